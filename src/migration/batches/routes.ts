import { Type } from 'typebox'
import { onAccessChangeOf } from '../../accounts/account-changes.ts'
import { addAuditDetails } from '../../accounts/audit/record-change.ts'
import { callerOf, type Reauthenticate } from '../../http/auth.ts'
import type { EventStreams } from '../../http/events/event-streams.ts'
import {
  Done,
  PageQuery,
  paginationOf,
  responses,
  responsesAs,
  sliceOf,
  Success,
  Uuid,
} from '../../http/http-schema.ts'
import { sendParts } from '../../http/send-parts.ts'
import type { App } from '../../http/http-server.ts'
import type { Notifications } from '../../store/notifications.ts'
import { readSnapshot } from '../../store/snapshot.ts'
import { addToBatch, createBatch, editBatch, removeBatch, type BatchDeps } from './batch-actions.ts'
import { readList } from './add-mailboxes.ts'
import { readForReport } from './mailboxes/batch-mailboxes.sql.ts'
import { mailboxRoutes } from './mailboxes/routes.ts'
import { findBatchChanges, findFullBatch, requireBatch } from './find-batch.ts'
import { BATCH_LIMITS } from './limits.ts'
import { progressRoutes } from './progress-routes.ts'
import { renderReport } from './report.ts'
import {
  AddedMailboxes,
  Batch,
  BatchChanges,
  BatchEvent,
  BatchPage,
  CreatedBatch,
  MailboxList,
  MoreMailboxes,
  NewBatch,
  ReadList,
} from './shapes.ts'
import { BATCH_CHANGED, listBatches } from './batches.sql.ts'
import { presentAdded, presentBatch, presentList } from './batch-view.ts'

export type BatchRoutesDeps = BatchDeps & {
  reauthenticate: Reauthenticate
  events: EventStreams
  notifications: Notifications
}

const params = Type.Object({ id: Uuid })

/** Bytes of a list in JSON: base64 and escapes make it larger. */
const BODY_BYTES = 2 * BATCH_LIMITS.maxFileBytes

/** Registers `/api/v1/imap/batches…`: many mailboxes that move together. */
export function batchRoutes(app: App, deps: BatchRoutesDeps): void {
  listRoutes(app, deps)
  batchRoute(app, deps)
  progressRoutes(app, deps)
  mailboxRoutes(app, deps)
  readingRoutes(app, deps)
}

function listRoutes(app: App, deps: BatchRoutesDeps): void {
  app.get(
    '/api/v1/imap/batches',
    {
      schema: {
        summary: 'List batches of migrations',
        description: 'Newest first.',
        operationId: 'listMigrationBatches',
        querystring: PageQuery,
        response: responses(Success(BatchPage)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const slice = sliceOf(request.query)
      const { rows, total } = await readSnapshot(deps.db, (trx) =>
        listBatches(trx, workspaceId, slice),
      )
      const pagination = paginationOf(request.query, total)
      return { success: true, data: { batches: rows.map(presentBatch), pagination } }
    },
  )
  app.post(
    '/api/v1/imap/batches/read',
    {
      config: { limit: 'verifications', unaudited: true },
      bodyLimit: BODY_BYTES,
      schema: {
        summary: 'Read a list of mailboxes without storing it',
        description:
          'Recognizes the format and the columns, and reports the problem of each line. No server is contacted. The response contains no passwords.',
        operationId: 'readMailboxList',
        body: MailboxList,
        response: responses(Success(ReadList)),
      },
    },
    async (request) => ({ success: true, data: presentList(readList(request.body)) }),
  )
  app.post(
    '/api/v1/imap/batches',
    {
      config: { limit: 'imports' },
      bodyLimit: BODY_BYTES,
      schema: {
        summary: 'Create a batch of migrations from a list',
        description: `Stores up to ${BATCH_LIMITS.maxMailboxes.toLocaleString('en-US')} mailboxes. Lines with errors are stored as invalid, to be corrected, and never stop the others. Nothing is copied before the batch is started.`,
        operationId: 'createMigrationBatch',
        body: NewBatch,
        response: responses(Success(CreatedBatch), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const { id, ...added } = await createBatch(deps, workspaceId, request.body)
      const batch = await findFullBatch(deps.db, { workspaceId, id })
      return reply.code(201).send({ success: true, data: { batch, ...presentAdded(added) } })
    },
  )
}

function batchRoute(app: App, deps: BatchRoutesDeps): void {
  app.get(
    '/api/v1/imap/batches/:id',
    {
      schema: {
        summary: 'Get a batch with its sums and problems',
        operationId: 'getMigrationBatch',
        params,
        response: responses(Success(Batch)),
      },
    },
    async (request) => ({ success: true, data: await findFullBatch(deps.db, nameOf(request)) }),
  )
  app.patch(
    '/api/v1/imap/batches/:id',
    {
      schema: {
        summary: 'Change the name or the limits of a batch',
        operationId: 'updateMigrationBatch',
        params,
        body: BatchChanges,
        response: responses(Success(Batch)),
      },
    },
    async (request) => {
      await editBatch(deps, nameOf(request), request.body)
      return { success: true, data: await findFullBatch(deps.db, nameOf(request)) }
    },
  )
  app.delete(
    '/api/v1/imap/batches/:id',
    {
      schema: {
        summary: 'Delete a batch of which nothing was copied',
        operationId: 'deleteMigrationBatch',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      const { name } = await requireBatch(deps.db, nameOf(request))
      await removeBatch(deps, nameOf(request))
      addAuditDetails(request, { name })
      return { success: true }
    },
  )
  app.post(
    '/api/v1/imap/batches/:id/rows',
    {
      config: { limit: 'imports' },
      bodyLimit: BODY_BYTES,
      schema: {
        summary: 'Add mailboxes to a batch, or update passwords',
        operationId: 'addMailboxesToBatch',
        params,
        body: MoreMailboxes,
        response: responses(Success(AddedMailboxes)),
      },
    },
    async (request) => ({
      success: true,
      data: presentAdded(await addToBatch(deps, nameOf(request), request.body)),
    }),
  )
}

function readingRoutes(
  app: App,
  { db, events, notifications, reauthenticate }: BatchRoutesDeps,
): void {
  app.get(
    '/api/v1/imap/batches/:id/report.csv',
    {
      config: { limit: 'batch reports' },
      schema: {
        summary: 'Download the report of a batch',
        description: 'One line per mailbox: state, messages, bytes, errors, last synchronization.',
        operationId: 'downloadBatchReport',
        params,
        produces: ['text/csv'],
        response: responsesAs('text/csv', Type.String()),
      },
    },
    async (request, reply) => {
      const { id } = await requireBatch(db, nameOf(request))
      reply
        .type('text/csv; charset=utf-8; header=present')
        .header('content-disposition', `attachment; filename="batch-${id}.csv"`)
        .header('cache-control', 'no-store')
      return sendParts(reply, renderReport(readForReport(db, id)))
    },
  )
  app.get(
    '/api/v1/imap/batches/:id/events',
    {
      config: { limit: 'migration streams' },
      schema: {
        summary: 'Follow a batch (server-sent events)',
        description: `Sends an event \`batch\` with the batch, then one per second at most with the batch and the mailboxes that changed, up to ${MAX_EVENT_MAILBOXES}.`,
        operationId: 'followMigrationBatch',
        params,
        produces: ['text/event-stream'],
        response: responsesAs('text/event-stream', BatchEvent, 'The data of each event'),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const name = nameOf(request)
      let since = new Date()
      await events.stream(reply, {
        name: 'batch',
        async read() {
          const before = since
          // Transactions that commit later may have begun earlier.
          since = new Date(Date.now() - COMMIT_DELAY_MS)
          return findBatchChanges(db, name, { since: before, limit: MAX_EVENT_MAILBOXES })
        },
        recheckAccess: () => reauthenticate(request),
        onAccessChange: (recheck) => onAccessChangeOf(notifications, caller, recheck),
        subscribe: (wake) => {
          const stops = [
            notifications.on(BATCH_CHANGED, (changed) => changed === name.id && wake()),
            notifications.onReconnect(wake),
          ]
          return () => stops.forEach((stop) => stop())
        },
      })
    },
  )
}

const MAX_EVENT_MAILBOXES = 500
const COMMIT_DELAY_MS = 2_000

function nameOf(request: Parameters<typeof callerOf>[0] & { params: { id: string } }) {
  return { workspaceId: callerOf(request).workspaceId, id: request.params.id }
}
