import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../errors.ts'
import type { Job } from '../../jobs/job.ts'
import type { Queue } from '../../jobs/queue.ts'
import type { DB } from '../../store/tables.ts'
import { KEEP_DAYS } from '../../mail-credentials/limits.ts'
import type { OpenTokens } from '../../mail-credentials/token-source.ts'
import { listBatchCredentials, releaseCredentials } from '../consent/migration-consents.sql.ts'
import { credentialsOf } from '../migrations.sql.ts'
import { addMailboxes, readListToAdd } from './add-mailboxes.ts'
import { checkCredentials, requireFitting } from './check-credentials.ts'
import { correctMailbox } from './correct-mailbox.ts'
import { BATCH_LIMITS, DEFAULT_HOST_LIMIT } from './limits.ts'
import { resetRejections } from './batch-hosts.sql.ts'
import { deleteMailbox, findMailbox, type MailboxFilter } from './mailboxes/batch-mailboxes.sql.ts'
import { pauseMailboxes, queueMailboxes } from './batch-progress.sql.ts'
import { lockScheduling } from './schedule/batch-schedule.sql.ts'
import type { BatchChanges, MailboxChanges, MoreMailboxes, NewBatch } from './shapes.ts'
import {
  countOpenBatches,
  deleteBatch,
  finishBatch,
  hasCountedMigration,
  insertBatch,
  lockBatch,
  notifyBatch,
  NO_TOTALS,
  readTotals,
  updateBatch,
  type BatchRow,
} from './batches.sql.ts'
import { syncColumns } from './sync-columns.ts'
import type { AddedLines } from './batch-view.ts'

export type BatchDeps = {
  db: Kysely<DB>
  queue: Queue
  secretKey: string
  scheduler: Job
  syncJob: Job
  openTokens: OpenTokens
}

/** A batch of a workspace. */
export type BatchName = { workspaceId: string; id: string }

/**
 * Creates a batch with the mailboxes of a list. Nothing is started.
 * @throws Fault `invalid_request`, `conflict` with too many open batches
 */
export async function createBatch(
  { db, secretKey, openTokens }: BatchDeps,
  workspaceId: string,
  request: NewBatch,
): Promise<AddedLines & { id: string }> {
  const list = await checkCredentials(openTokens, workspaceId, readListToAdd(request))
  const { name, sourceLimit = DEFAULT_HOST_LIMIT, destinationLimit = DEFAULT_HOST_LIMIT } = request
  const { specialUse = true, deduplicate = false, allMailOnce = false } = request
  const { destPrefix = '', folderMap = {} } = request
  const options = { specialUse, deduplicate, allMailOnce, destPrefix, folderMap }
  return db.transaction().execute(async (trx) => {
    if ((await countOpenBatches(trx, workspaceId)) >= BATCH_LIMITS.maxOpenBatches)
      throw new Fault(
        'conflict',
        `A workspace has up to ${BATCH_LIMITS.maxOpenBatches} open batches. Finish one first.`,
      )
    const batch = { workspaceId, name, options, sourceLimit, destinationLimit }
    const id = await insertBatch(trx, batch)
    if (request.sync) await updateBatch(trx, id, syncColumns(request.sync))
    const added = await addMailboxes(trx, { workspaceId, batchId: id, secretKey }, list)
    await notifyBatch(trx, workspaceId, id)
    return { id, ...added }
  })
}

/**
 * Changes a batch while nothing else does, starts what can be started afterwards, and notifies its
 * readers.
 * @throws Fault `not_found`, `conflict` when it is finished
 */
export async function changeBatch<T>(
  { db, queue, scheduler }: BatchDeps,
  { workspaceId, id }: BatchName,
  work: (trx: Transaction<DB>, batch: BatchRow) => Promise<T>,
): Promise<T> {
  return db.transaction().execute(async (trx) => {
    // First, so that no mailbox starts meanwhile.
    await lockScheduling(trx)
    const batch = await lockBatch(trx, workspaceId, id)
    if (!batch) throw new Fault('not_found', 'The batch was not found.')
    if (batch.finishedAt) throw new Fault('conflict', 'The batch is finished.')
    const result = await work(trx, batch)
    await queue.enqueue(trx, scheduler, {})
    await notifyBatch(trx, workspaceId, id)
    return result
  })
}

/** Adds mailboxes to a batch. */
export async function addToBatch(
  deps: BatchDeps,
  name: BatchName,
  { existing, ...request }: MoreMailboxes,
): Promise<AddedLines> {
  const { secretKey, openTokens } = deps
  const list = await checkCredentials(openTokens, name.workspaceId, readListToAdd(request))
  return changeBatch(deps, name, (trx) =>
    addMailboxes(
      trx,
      { workspaceId: name.workspaceId, batchId: name.id, secretKey },
      list,
      existing,
    ),
  )
}

/** Changes the name and the limits of a batch. */
export async function editBatch(
  deps: BatchDeps,
  name: BatchName,
  changes: BatchChanges,
): Promise<void> {
  await changeBatch(deps, name, async (trx) => {
    if (Object.keys(changes).length > 0) await updateBatch(trx, name.id, changes)
  })
}

/**
 * Queues a dry run of every mailbox that is ready: both accounts are listed and counted, nothing is
 * copied.
 * @returns how many were queued
 */
export async function dryRunBatch(deps: BatchDeps, name: BatchName): Promise<number> {
  return changeBatch(deps, name, async (trx, batch) => {
    requireRunning(batch)
    await resetRejections(trx, name.id)
    return queueMailboxes(trx, name.id, ['ready'], 'dry_run')
  })
}

/**
 * Queues the mailboxes that are ready.
 * @param again also those that are in sync, to copy new messages
 */
export async function startBatch(
  deps: BatchDeps,
  name: BatchName,
  again: boolean,
): Promise<number> {
  return changeBatch(deps, name, async (trx, batch) => {
    requireRunning(batch)
    await resetRejections(trx, name.id)
    return queueMailboxes(trx, name.id, again ? ['ready', 'in_sync'] : ['ready'], 'sync')
  })
}

/**
 * Queues mailboxes again that need attention, for what they were queued for before. Those that are
 * named may have been corrected meanwhile, which made them ready.
 */
export async function retryBatch(
  deps: BatchDeps,
  name: BatchName,
  filter: Pick<MailboxFilter, 'problem' | 'host'> & { ids?: string[] | undefined },
): Promise<number> {
  return changeBatch(deps, name, async (trx, batch) => {
    requireRunning(batch)
    await resetRejections(trx, name.id, filter.host === undefined ? 'all' : [filter.host])
    const states = ['needs_attention', ...(filter.ids ? (['ready'] as const) : [])] as const
    return queueMailboxes(trx, name.id, states, null, filter)
  })
}

/** Pauses a batch. Copying stops within seconds, and continues where it stopped. */
export async function pauseBatch(deps: BatchDeps, name: BatchName): Promise<void> {
  await changeBatch(deps, name, async (trx, { pausedAt }) => {
    if (pausedAt) throw new Fault('conflict', 'The batch is paused already.')
    await updateBatch(trx, name.id, { pausedAt: new Date() })
    await pauseMailboxes(trx, name.id)
  })
}

/** Continues a paused batch, and mailboxes that wait because a host rejected sign-ins. */
export async function resumeBatch(deps: BatchDeps, name: BatchName): Promise<number> {
  return changeBatch(deps, name, async (trx) => {
    await updateBatch(trx, name.id, { pausedAt: null })
    await resetRejections(trx, name.id)
    return queueMailboxes(trx, name.id, ['paused'], null)
  })
}

/**
 * Ends a batch: mailboxes that are in sync are done, and the passwords of all are deleted.
 * @throws Fault `conflict` while mailboxes wait or run
 */
export async function endBatch(deps: BatchDeps, name: BatchName): Promise<void> {
  await changeBatch(deps, name, async (trx) => {
    await requireIdle(trx, name.id)
    await finishBatch(trx, name)
  })
}

/**
 * Deletes a batch of which nothing was copied.
 * @throws Fault `conflict` when mailboxes were started, because they count toward the month
 */
export async function removeBatch(
  { db }: BatchDeps,
  { workspaceId, id }: BatchName,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await lockScheduling(trx)
    if (!(await lockBatch(trx, workspaceId, id)))
      throw new Fault('not_found', 'The batch was not found.')
    await requireIdle(trx, id)
    if (await hasCountedMigration(trx, id))
      throw new Fault('conflict', 'Mailboxes of this batch were copied. Finish it instead.')
    const credentials = await listBatchCredentials(trx, id)
    await deleteBatch(trx, id)
    await releaseCredentials(trx, workspaceId, credentials, KEEP_DAYS.unused)
    await notifyBatch(trx, workspaceId, id)
  })
}

/** Corrects a mailbox. @throws Fault `conflict` when that is not possible now */
export async function editMailbox(
  deps: BatchDeps,
  name: BatchName,
  mailboxId: string,
  changes: MailboxChanges,
): Promise<void> {
  const { secretKey, openTokens } = deps
  const row = await findMailbox(deps.db, name.id, mailboxId)
  if (row) await requireFitting(openTokens, name.workspaceId, row, changes)
  await changeBatch(deps, name, async (trx) => {
    const { workspaceId, id: batchId } = name
    const of = { workspaceId, batchId, secretKey, id: mailboxId }
    const refused = await correctMailbox(trx, of, changes)
    if (refused !== null) throw new Fault('conflict', refused)
  })
}

/** Removes a mailbox with its passwords. What was copied stays. */
export async function removeMailbox(
  deps: BatchDeps,
  name: BatchName,
  mailboxId: string,
): Promise<void> {
  await changeBatch(deps, name, async (trx) => {
    const row = await findMailbox(trx, name.id, mailboxId)
    if (!row) throw new Fault('not_found', 'The mailbox was not found.')
    if (row.activeId !== null)
      throw new Fault('conflict', 'The mailbox is being synchronized. Pause the batch first.')
    await deleteMailbox(trx, mailboxId)
    await releaseCredentials(trx, name.workspaceId, credentialsOf(row), KEEP_DAYS.unused)
  })
}

function requireRunning({ pausedAt }: BatchRow): void {
  if (pausedAt) throw new Fault('conflict', 'The batch is paused. Resume it first.')
}

async function requireIdle(trx: Transaction<DB>, id: string): Promise<void> {
  const { counts } = (await readTotals(trx, [id])).get(id) ?? NO_TOTALS
  if (counts.queued + counts.syncing > 0)
    throw new Fault('conflict', 'Mailboxes are being synchronized. Pause the batch first.')
}
