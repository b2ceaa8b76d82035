import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf, type Caller } from '../../http/auth.ts'
import { Done, paginationOf, responses, sliceOf, Success, Uuid } from '../../http/schema.ts'
import type { App } from '../../http/server.ts'
import { readSubject } from '../subject.ts'
import { TAGS } from '../tags.ts'
import { allowNetwork, removeAllowed } from './allowlist.ts'
import { banAddress, unban } from './bans/bans.ts'
import { listBans, listHistory, type Cause } from './bans/store.ts'
import { listBouncers } from './crowdsec/store.ts'
import type { Fleets } from './fleet.ts'
import { changeSettings, readSettings } from './settings.ts'
import {
  AllowedNetwork,
  Allowlist,
  BanPage,
  BanQuery,
  BouncerList,
  HistoryPage,
  HistoryQuery,
  NewAllowedNetwork,
  NewBan,
  NewBanResult,
  ServerList,
  Settings,
  SettingsChange,
  Unbanned,
} from './shapes.ts'
import { listAllowed, listMemberAddresses, listServerAddresses, listServers } from './store.ts'

const BASE = '/api/v1/abuse/fleet'
const params = Type.Object({ id: Uuid })

/** `/api/v1/abuse/fleet/…`: the fleet list of a workspace, for its members. */
export function fleetRoutes(app: App, fleets: Fleets): void {
  settingsRoutes(app, fleets)
  banRoutes(app, fleets)
  unbanRoutes(app, fleets)
  historyRoute(app, fleets)
  allowlistRoutes(app, fleets)
  serverRoute(app, fleets)
  bouncerRoute(app, fleets)
}

function settingsRoutes(app: App, { db }: Fleets): void {
  app.get(
    BASE,
    {
      schema: {
        operationId: 'getFleet',
        summary: 'Get the rules and the size of the fleet list',
        tags: TAGS,
        response: responses(Success(Settings)),
      },
    },
    async (request) => ({
      success: true,
      data: await readSettings(db, callerOf(request).workspaceId),
    }),
  )
  app.put(
    BASE,
    {
      schema: {
        operationId: 'updateFleet',
        summary: 'Change the rules of the fleet list',
        description: 'Given fields only. New rules apply to reports from now on.',
        tags: TAGS,
        body: SettingsChange,
        response: responses(Success(Settings)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      await changeSettings(db, workspaceId, request.body)
      return { success: true, data: await readSettings(db, workspaceId) }
    },
  )
}

function banRoutes(app: App, fleets: Fleets): void {
  const { db, clock } = fleets
  app.get(
    `${BASE}/bans`,
    {
      schema: {
        operationId: 'listFleetBans',
        summary: 'List the banned addresses, newest first',
        tags: TAGS,
        querystring: BanQuery,
        response: responses(BanPage),
      },
    },
    async (request) => {
      const { page, limit, q } = request.query
      const { rows, total } = await listBans(db, callerOf(request).workspaceId, {
        now: new Date(clock()),
        q: q.trim(),
        ...sliceOf({ page, limit }),
      })
      return {
        success: true,
        data: { bans: rows, pagination: paginationOf({ page, limit }, total) },
      }
    },
  )
  app.post(
    `${BASE}/bans`,
    {
      schema: {
        operationId: 'createFleetBan',
        summary: 'Ban an address on all servers',
        description: 'A ban that lasts longer already keeps its end.',
        tags: TAGS,
        body: NewBan,
        response: responses(NewBanResult, 201),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { ip, seconds, reason } = request.body
      const ban = { subject: readSubject(ip), seconds, reason, member: nameOf(caller) }
      const { address, expiresAt } = await banAddress(fleets, caller.workspaceId, ban, clock())
      const data = { address, expiresAt: new Date(expiresAt ?? 0) }
      return reply.code(201).send({ success: true, data })
    },
  )
}

function unbanRoutes(app: App, { db, clock }: Fleets): void {
  const causeOf = (caller: Caller): Cause => ({ by: 'member', member: nameOf(caller) })
  app.delete(
    `${BASE}/bans/:id`,
    {
      schema: {
        operationId: 'deleteFleetBan',
        summary: 'Unban an address on all servers',
        description: 'Its earlier bans are forgotten.',
        tags: TAGS,
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const which = { id: request.params.id }
      if ((await unban(db, caller.workspaceId, which, causeOf(caller), clock())) === 0)
        throw new Fault('not_found', 'The ban was not found. It may have ended.')
      return { success: true }
    },
  )
  app.delete(
    `${BASE}/bans`,
    {
      schema: {
        operationId: 'deleteFleetBans',
        summary: 'Unban all addresses on all servers',
        tags: TAGS,
        response: responses(Unbanned),
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const unbanned = await unban(db, caller.workspaceId, 'all', causeOf(caller), clock())
      return { success: true, data: { unbanned } }
    },
  )
}

function historyRoute(app: App, { db }: Fleets): void {
  app.get(
    `${BASE}/history`,
    {
      schema: {
        operationId: 'listFleetHistory',
        summary: 'List the changes of the fleet list and their causes, newest first',
        description: 'Changes are kept for 30 days, and the newest 100,000.',
        tags: TAGS,
        querystring: HistoryQuery,
        response: responses(HistoryPage),
      },
    },
    async (request) => {
      const { limit, before = null, ip } = request.query
      const address = ip === undefined ? null : readSubject(ip).key
      const { workspaceId } = callerOf(request)
      return {
        success: true,
        data: { changes: await listHistory(db, workspaceId, { limit, before, address }) },
      }
    },
  )
}

function allowlistRoutes(app: App, { db, clock, serviceAddresses }: Fleets): void {
  app.get(
    `${BASE}/allowlist`,
    {
      schema: {
        operationId: 'listFleetAllowlist',
        summary: 'List the networks that are never banned',
        tags: TAGS,
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
    `${BASE}/allowlist`,
    {
      schema: {
        operationId: 'createFleetAllowedNetwork',
        summary: 'Add a network to the allowlist of the fleet',
        description: 'Addresses in it are unbanned on all servers.',
        tags: TAGS,
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
    `${BASE}/allowlist/:id`,
    {
      schema: {
        operationId: 'deleteFleetAllowedNetwork',
        summary: 'Remove a network from the allowlist of the fleet',
        tags: TAGS,
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
    `${BASE}/servers`,
    {
      schema: {
        operationId: 'listFleetServers',
        summary: 'List the servers that report or follow, last seen first',
        tags: TAGS,
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
    `${BASE}/bouncers`,
    {
      schema: {
        operationId: 'listFleetBouncers',
        summary: 'List the CrowdSec bouncers that read the fleet list, last seen first',
        tags: TAGS,
        response: responses(BouncerList),
      },
    },
    async (request) => ({
      success: true,
      data: await listBouncers(db, callerOf(request).workspaceId),
    }),
  )
}

const nameOf = ({ name, email }: Caller) => name || email
