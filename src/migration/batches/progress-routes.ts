import { Type, type TSchema } from 'typebox'
import { callerOf } from '../../http/auth.ts'
import { responses, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import {
  dryRunBatch,
  endBatch,
  pauseBatch,
  resumeBatch,
  retryBatch,
  startBatch,
  type BatchDeps,
  type BatchName,
} from './batch-actions.ts'
import { findFullBatch } from './find-batch.ts'
import { SyncRequest } from '../sync/shapes.ts'
import { endBatchSync, setBatchSync } from './sync.ts'
import { Batch, QueuedMailboxes, RetryOptions, StartOptions } from './shapes.ts'

const params = Type.Object({ id: Uuid })

/** Registers the routes that start, pause, continue and end a batch. */
export function progressRoutes(app: App, deps: BatchDeps): void {
  queueingRoutes(app, deps)
  syncRoutes(app, deps)
  simpleRoute(app, deps, {
    action: 'pause',
    summary: 'Pause a batch',
    description:
      'Queued mailboxes are not started, and copying stops within seconds. Messages already copied are kept.',
    run: pauseBatch,
  })
  simpleRoute(app, deps, {
    action: 'finish',
    summary: 'Finish a batch and delete its passwords',
    description: 'Mailboxes that are in sync are done. A finished batch cannot be started again.',
    run: endBatch,
  })
}

function queueingRoutes(app: App, deps: BatchDeps): void {
  const queued = async (name: BatchName, count: number) => ({
    success: true,
    data: { queued: count, batch: await findFullBatch(deps.db, name) },
  })
  app.post(
    '/api/v1/imap/batches/:id/dry-run',
    {
      schema: {
        ...describe('dry-run', 'Check all mailboxes of a batch', QueuedMailboxes),
        description:
          'Signs in on both sides of every mailbox that is ready, lists and counts its folders, and copies nothing. It does not count towards the monthly limit.',
      },
    },
    async (request) => {
      const name = nameOf(request)
      return queued(name, await dryRunBatch(deps, name))
    },
  )
  app.post(
    '/api/v1/imap/batches/:id/start',
    {
      schema: {
        ...describe('start', 'Start the mailboxes of a batch that are ready', QueuedMailboxes),
        description:
          'Each mailbox counts once towards the monthly limit, however often it is synchronized.',
        body: StartOptions,
      },
    },
    async (request) => {
      const name = nameOf(request)
      return queued(name, await startBatch(deps, name, request.body.again ?? false))
    },
  )
  app.post(
    '/api/v1/imap/batches/:id/retry',
    {
      schema: {
        ...describe('retry', 'Retry mailboxes that need attention', QueuedMailboxes),
        description:
          'All of them, those with a problem, or those named, also when they were corrected and are ready.',
        body: RetryOptions,
      },
    },
    async (request) => {
      const name = nameOf(request)
      const { mailboxes: ids, ...filter } = request.body
      return queued(name, await retryBatch(deps, name, { ...filter, ids }))
    },
  )
  app.post(
    '/api/v1/imap/batches/:id/resume',
    {
      schema: {
        ...describe('resume', 'Resume a batch', QueuedMailboxes),
        description:
          'Continues a paused batch, and mailboxes that wait because a host rejected several sign-ins in a row.',
      },
    },
    async (request) => {
      const name = nameOf(request)
      return queued(name, await resumeBatch(deps, name))
    },
  )
}

function syncRoutes(app: App, deps: BatchDeps): void {
  const path = '/api/v1/imap/batches/:id/sync'
  app.put(
    path,
    {
      schema: {
        ...describe('set', 'Synchronize the mailboxes of a batch again and again', Batch),
        operationId: 'setMigrationBatchSync',
        description:
          'Each pass copies new messages and follows flags, moves and deletions of copied ones, until it is ended. Calling it again changes the settings and starts a pass. Mailboxes that are not started yet follow when they are.',
        body: SyncRequest,
      },
    },
    async (request) => {
      const name = nameOf(request)
      await setBatchSync(deps, name, request.body)
      return { success: true, data: await findFullBatch(deps.db, name) }
    },
  )
  app.delete(
    path,
    {
      schema: {
        ...describe('end', 'End the synchronization of a batch', Batch),
        operationId: 'endMigrationBatchSync',
        description:
          'Running passes are completed. The passwords stay until the batch is finished.',
      },
    },
    async (request) => {
      const name = nameOf(request)
      await endBatchSync(deps, name)
      return { success: true, data: await findFullBatch(deps.db, name) }
    },
  )
}

type SimpleRoute = {
  action: string
  summary: string
  description: string
  run: (deps: BatchDeps, name: BatchName) => Promise<void>
}

function simpleRoute(
  app: App,
  deps: BatchDeps,
  { action, summary, description, run }: SimpleRoute,
) {
  app.post(
    `/api/v1/imap/batches/:id/${action}`,
    { schema: { ...describe(action, summary, Batch), description } },
    async (request) => {
      const name = nameOf(request)
      await run(deps, name)
      return { success: true, data: await findFullBatch(deps.db, name) }
    },
  )
}

function describe(action: string, summary: string, data: TSchema) {
  const operation = action.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  const operationId = `${operation}MigrationBatch`
  return { summary, operationId, params, response: responses(Success(data)) }
}

function nameOf(request: Parameters<typeof callerOf>[0]): BatchName {
  const { id } = request.params as { id: string }
  return { workspaceId: callerOf(request).workspaceId, id }
}
