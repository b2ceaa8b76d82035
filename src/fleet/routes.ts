import { Type } from 'typebox'
import { callerOf } from '../http/auth.ts'
import { Done, responses, Success, Uuid } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import { allowNetwork, removeAllowed } from './allowlist.ts'
import { issueToken, revokeToken } from '../abuse/tokens/report-tokens.ts'
import { listBouncerKeys } from '../abuse/tokens/report-tokens.sql.ts'
import { NewToken } from '../abuse/shapes.ts'
import { banRoutes } from './bans/routes.ts'
import { listBouncers } from './crowdsec/fleet-bouncers.sql.ts'
import type { Fleets } from './fleet.ts'
import { changeSettings, readSettings } from './fleet-settings.ts'
import {
  AllowedNetwork,
  Allowlist,
  BouncerList,
  IssuedKey,
  KeyList,
  NewAllowedNetwork,
  ServerList,
  Settings,
  SettingsChange,
} from './shapes.ts'
import { listAllowed, listMemberAddresses, listServerAddresses, listServers } from './fleet.sql.ts'
import { FLEET_PATH } from './path.ts'

const params = Type.Object({ id: Uuid })

/** `/api/v1/abuse/fleet/…`: the fleet list of a workspace, for its members. */
export function fleetRoutes(app: App, fleets: Fleets): void {
  settingsRoutes(app, fleets)
  banRoutes(app, fleets)
  allowlistRoutes(app, fleets)
  serverRoute(app, fleets)
  bouncerRoute(app, fleets)
  keyRoutes(app, fleets)
}

function settingsRoutes(app: App, fleets: Fleets): void {
  const { db } = fleets
  app.get(
    FLEET_PATH,
    {
      schema: {
        operationId: 'getFleet',
        summary: 'Get the rules and the size of the fleet list',
        response: responses(Success(Settings)),
      },
    },
    async (request) => ({
      success: true,
      data: await readSettings(fleets, callerOf(request).workspaceId),
    }),
  )
  app.put(
    FLEET_PATH,
    {
      schema: {
        operationId: 'updateFleet',
        summary: 'Change the rules of the fleet list',
        description: 'Given fields only. New rules apply to reports from now on.',
        body: SettingsChange,
        response: responses(Success(Settings)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      await changeSettings(db, workspaceId, request.body)
      return { success: true, data: await readSettings(fleets, workspaceId) }
    },
  )
}

function allowlistRoutes(app: App, { db, clock, serviceAddresses }: Fleets): void {
  app.get(
    `${FLEET_PATH}/allowlist`,
    {
      schema: {
        operationId: 'listFleetAllowlist',
        summary: 'List the networks that are never banned',
        response: responses(Allowlist),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const automatic = {
        members: await listMemberAddresses(db, workspaceId),
        servers: await listServerAddresses(db, workspaceId),
        service: serviceAddresses.list(),
      }
      return {
        success: true,
        data: { networks: await listAllowed(db, workspaceId), automatic },
      }
    },
  )
  app.post(
    `${FLEET_PATH}/allowlist`,
    {
      schema: {
        operationId: 'createFleetAllowedNetwork',
        summary: 'Add a network to the allowlist of the fleet',
        description: 'Addresses in it are unbanned on all servers.',
        body: NewAllowedNetwork,
        response: responses(Success(AllowedNetwork), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const data = await allowNetwork(db, workspaceId, request.body, clock())
      return reply.code(201).send({ success: true, data })
    },
  )
  app.delete(
    `${FLEET_PATH}/allowlist/:id`,
    {
      schema: {
        operationId: 'deleteFleetAllowedNetwork',
        summary: 'Remove a network from the allowlist of the fleet',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      await removeAllowed(db, callerOf(request).workspaceId, request.params.id)
      return { success: true }
    },
  )
}

function serverRoute(app: App, { db }: Fleets): void {
  app.get(
    `${FLEET_PATH}/servers`,
    {
      schema: {
        operationId: 'listFleetServers',
        summary: 'List the servers that report or follow, last seen first',
        response: responses(ServerList),
      },
    },
    async (request) => ({
      success: true,
      data: await listServers(db, callerOf(request).workspaceId),
    }),
  )
}

function bouncerRoute(app: App, { db }: Fleets): void {
  app.get(
    `${FLEET_PATH}/bouncers`,
    {
      schema: {
        operationId: 'listFleetBouncers',
        summary: 'List the CrowdSec bouncers that read the fleet list, last seen first',
        response: responses(BouncerList),
      },
    },
    async (request) => ({
      success: true,
      data: await listBouncers(db, callerOf(request).workspaceId),
    }),
  )
}

function keyRoutes(app: App, { db }: Fleets): void {
  app.get(
    `${FLEET_PATH}/keys`,
    {
      schema: {
        operationId: 'listBouncerKeys',
        summary: 'List the keys that read the fleet list, newest first',
        response: responses(KeyList),
      },
    },
    async (request) => ({
      success: true,
      data: await listBouncerKeys(db, callerOf(request).workspaceId),
    }),
  )
  app.post(
    `${FLEET_PATH}/keys`,
    {
      schema: {
        operationId: 'createBouncerKey',
        summary: 'Create a key that reads the fleet list',
        description: 'For servers, firewalls and CrowdSec bouncers. It cannot report.',
        body: Type.Optional(NewToken),
        response: responses(Success(IssuedKey), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const { label = '' } = request.body ?? {}
      const { token: key, ...row } = await issueToken(db, 'bouncer', { workspaceId, label })
      return reply.code(201).send({ success: true, data: { ...row, key } })
    },
  )
  app.delete(
    `${FLEET_PATH}/keys/:id`,
    {
      schema: {
        operationId: 'deleteBouncerKey',
        summary: 'Revoke a key that reads the fleet list',
        description: 'Streams with it end at once.',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      await revokeToken(db, 'bouncer', { workspaceId, id: request.params.id })
      return { success: true }
    },
  )
}
