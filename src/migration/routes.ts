import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import { onAccessChangeOf } from '../accounts/account-changes.ts'
import { scarcerOf } from '../accounts/own-data/account-quotas.ts'
import { Fault } from '../errors.ts'
import { callerOf, type Reauthenticate } from '../http/auth.ts'
import type { EventStreams } from '../http/events/event-streams.ts'
import {
  responses,
  responsesAs,
  paginationOf,
  sliceOf,
  Success,
  Uuid,
} from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import type { Notifications } from '../store/notifications.ts'
import { readSnapshot } from '../store/snapshot.ts'
import { listAccount, testAccount } from './test-account.ts'
import {
  Connection,
  ConnectionTest,
  CreatedMigration,
  FolderList,
  FoundMigration,
  Migration,
  MigrationPage,
  MigrationQuery,
  MigrationThroughput,
  NewMigration,
  Retry,
} from './shapes.ts'
import {
  cancelMigration,
  CHANGED,
  countMigrations,
  countThisMonth,
  findMigrationWithErrors,
  isOfBatch,
  listMigrations,
} from './migrations.sql.ts'
import { monthsOf, retryMigration, submitMigration, type SubmitDeps } from './submit-migration.ts'
import { findThroughput } from './run/migration-runs.sql.ts'
import { MAX_THROUGHPUT_POINTS } from './run/throughput.ts'
import {
  presentMigration,
  presentMigrationWithErrors,
  presentThroughput,
} from './migration-view.ts'

export type MigrationRoutesDeps = SubmitDeps & {
  reauthenticate: Reauthenticate
  events: EventStreams
  notifications: Notifications
}

const params = Type.Object({ id: Uuid })

/** Milliseconds between two events of a migration. */
const MIN_EVENT_INTERVAL_MS = 100

/** Registers `/api/v1/imap/…`: account tests, folder lists and migrations. */
export function migrationRoutes(app: App, deps: MigrationRoutesDeps): void {
  accountRoutes(app, deps)
  submitRoutes(app, deps)
  statusRoutes(app, deps)
}

function accountRoutes(app: App, deps: MigrationRoutesDeps): void {
  const common = { body: Connection }
  app.post(
    '/api/v1/imap/test-connection',
    {
      config: { limit: 'connections', unaudited: true },
      schema: {
        summary: 'Sign in to an IMAP account',
        operationId: 'testImapConnection',
        ...common,
        response: responses(ConnectionTest),
      },
    },
    async (request, reply) => testAccount(request.body, deps, askedBy(request, reply)),
  )
  app.post(
    '/api/v1/imap/list-folders',
    {
      config: { limit: 'connections', unaudited: true },
      schema: {
        summary: 'List the folders of an IMAP account',
        operationId: 'listImapFolders',
        ...common,
        response: responses(Success(FolderList)),
      },
    },
    async (request, reply) => ({
      success: true,
      data: await listAccount(request.body, deps, askedBy(request, reply)),
    }),
  )
}

function askedBy(request: FastifyRequest, reply: FastifyReply) {
  return { workspaceId: callerOf(request).workspaceId, gone: goneOf(reply) }
}

/** Aborts when the client disconnects. */
function goneOf(reply: { raw: NodeJS.EventEmitter }): AbortSignal {
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  return gone.signal
}

function submitRoutes(app: App, deps: MigrationRoutesDeps): void {
  app.post(
    '/api/v1/imap/migrate',
    {
      config: { limit: 'connections' },
      schema: {
        summary: 'Start a migration between IMAP accounts',
        description:
          'The migration is queued. Request its status every 2 to 5 seconds, or follow its events.',
        body: NewMigration,
        response: responses(CreatedMigration, 201),
      },
    },
    async (request, reply) => {
      const { id, queue, status } = await submitMigration(
        deps,
        callerOf(request).workspaceId,
        request.body,
        goneOf(reply),
      )
      const statusUrl = `/api/v1/imap/migrate/${id}`
      return reply.code(201).send({ success: true, migrationId: id, status, queue, statusUrl })
    },
  )
  app.post(
    '/api/v1/imap/migrate/:id/retry',
    {
      config: { limit: 'connections' },
      schema: {
        summary: 'Retry a failed migration',
        description:
          'Requires the passwords again: they were deleted when the migration ended. A sign-in at a provider (`credentialId`) is kept for a week. With `owner`, the migration is paused until the owner of that mailbox has signed in by a link.',
        params,
        body: Retry,
        response: responses(FoundMigration),
      },
    },
    async (request) => {
      const row = await retryMigration(
        deps,
        callerOf(request).workspaceId,
        request.params.id,
        request.body,
      )
      return { success: true, ...presentMigrationWithErrors(row, []) }
    },
  )
  app.post(
    '/api/v1/imap/migrate/:id/cancel',
    {
      schema: {
        summary: 'Stop a migration',
        params,
        response: responses(FoundMigration),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id } = request.params
      const before = await found(deps, workspaceId, id)
      if (await isOfBatch(deps.db, workspaceId, id))
        throw new Fault('conflict', 'This migration is part of a batch. Pause the batch.')
      if (!(await deps.db.transaction().execute((trx) => cancelMigration(trx, workspaceId, id)))) {
        throw new Fault(
          'conflict',
          `Only a migration that has not ended can be cancelled; this one is ${before.status}.`,
        )
      }
      return { success: true, ...(await found(deps, workspaceId, id)) }
    },
  )
}

function statusRoutes(
  app: App,
  { reauthenticate, events, notifications, ...deps }: MigrationRoutesDeps,
): void {
  app.get(
    '/api/v1/imap/migrations',
    {
      schema: {
        summary: 'List migrations',
        description: 'Newest first, unless ordered otherwise.',
        querystring: MigrationQuery,
        response: responses(Success(MigrationPage)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { page, limit, q, sort: order } = request.query
      const slice = sliceOf({ page, limit })
      const { usage, total, rows } = await readSnapshot(deps.db, async (trx) => ({
        usage: await countThisMonth(trx, workspaceId),
        total: await countMigrations(trx, workspaceId, q),
        rows: await listMigrations(trx, workspaceId, { q, order }, slice),
      }))
      const { used, limit: perMonth } = scarcerOf(...monthsOf(usage))
      const month = { used, limit: Number.isFinite(perMonth) ? perMonth : null }
      const pagination = paginationOf({ page, limit }, total)
      return { success: true, data: { migrations: rows.map(presentMigration), pagination, month } }
    },
  )
  app.get(
    '/api/v1/imap/migrate/:id',
    {
      schema: {
        summary: 'Get a migration',
        params,
        response: responses(FoundMigration),
      },
    },
    async (request) => ({
      success: true,
      ...(await found(deps, callerOf(request).workspaceId, request.params.id)),
    }),
  )
  app.get(
    '/api/v1/imap/migrate/:id/throughput',
    {
      schema: {
        summary: 'Get the throughput of a migration over time',
        description: `Up to ${MAX_THROUGHPUT_POINTS} points; the longer a migration takes, the longer their steps.`,
        params,
        response: responses(MigrationThroughput),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const series = await findThroughput(deps.db, workspaceId, request.params.id)
      if (series === undefined) throw new Fault('not_found', 'The migration was not found.')
      return { success: true, data: series && presentThroughput(series) }
    },
  )
  app.get(
    '/api/v1/imap/migrate/:id/events',
    {
      config: { limit: 'migration streams' },
      schema: {
        summary: 'Follow a migration (server-sent events)',
        description:
          'Sends an event `migration` with the current status, then one per change: progress once a second, a new status at once.',
        params,
        produces: ['text/event-stream'],
        response: responsesAs('text/event-stream', Migration, 'The data of each event'),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { workspaceId } = caller
      const { id } = request.params
      await events.stream(reply, {
        name: 'migration',
        read: () => found(deps, workspaceId, id),
        // Workers report progress once a second, but the end of a migration at once.
        minIntervalMs: MIN_EVENT_INTERVAL_MS,
        recheckAccess: () => reauthenticate(request),
        onAccessChange: (recheck) => onAccessChangeOf(notifications, caller, recheck),
        subscribe: (wake) => {
          const stops = [
            notifications.on(CHANGED, (changed) => changed === id && wake()),
            notifications.onReconnect(wake),
          ]
          return () => stops.forEach((stop) => stop())
        },
      })
    },
  )
}

async function found({ db }: SubmitDeps, workspaceId: string, id: string) {
  const row = await findMigrationWithErrors(db, workspaceId, id)
  if (!row) throw new Fault('not_found', 'The migration was not found.')
  return presentMigrationWithErrors(row, row.errors)
}
