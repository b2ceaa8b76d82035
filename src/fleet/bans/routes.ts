import { Type } from 'typebox'
import { callerOf, type Caller } from '../../http/auth.ts'
import { Done, paginationOf, responses, sliceOf, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { readSubject } from '../../abuse/subject.ts'
import type { Fleets } from '../fleet.ts'
import {
  BanPage,
  BanQuery,
  HistoryPage,
  HistoryQuery,
  NewBan,
  NewBanResult,
  Unbanned,
} from '../shapes.ts'
import { banAddress, unban, unbanOne } from './bans.ts'
import { listBans, listHistory, type Cause } from './fleet-bans.sql.ts'
import { FLEET_PATH } from '../path.ts'

const params = Type.Object({ id: Uuid })

/** `/api/v1/abuse/fleet/bans` and `…/history`. */
export function banRoutes(app: App, fleets: Fleets): void {
  listAndBanRoutes(app, fleets)
  unbanRoutes(app, fleets)
  historyRoute(app, fleets)
}

function listAndBanRoutes(app: App, fleets: Fleets): void {
  const { db, clock } = fleets
  app.get(
    `${FLEET_PATH}/bans`,
    {
      schema: {
        operationId: 'listFleetBans',
        summary: 'List the banned addresses, newest first',
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
    `${FLEET_PATH}/bans`,
    {
      schema: {
        operationId: 'createFleetBan',
        summary: 'Ban an address on all servers',
        description: 'A ban that lasts longer already keeps its end.',
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
    `${FLEET_PATH}/bans/:id`,
    {
      schema: {
        operationId: 'deleteFleetBan',
        summary: 'Unban an address on all servers',
        description: 'Its earlier bans are forgotten.',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      const caller = callerOf(request)
      await unbanOne(db, caller.workspaceId, request.params.id, causeOf(caller), clock())
      return { success: true }
    },
  )
  app.delete(
    `${FLEET_PATH}/bans`,
    {
      schema: {
        operationId: 'deleteFleetBans',
        summary: 'Unban all addresses on all servers',
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
    `${FLEET_PATH}/history`,
    {
      schema: {
        operationId: 'listFleetHistory',
        summary: 'List the changes of the fleet list and their causes, newest first',
        description: 'Changes are kept for 30 days, and the newest 100,000.',
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

const nameOf = ({ name, email }: Caller) => name || email
