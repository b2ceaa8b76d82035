import { sql, type Transaction } from 'kysely'
import { changeNotification } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { notifyAll, type Notification } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { listBatchCredentials, releaseCredentials } from '../consent/migration-consents.sql.ts'
import type { SyncOptions } from '../engine/sync/pass.ts'
import { migrationNotifications } from '../migrations.sql.ts'
import { deleteBatchSyncs } from '../sync/syncs.sql.ts'
import { BATCH_LIMITS } from './limits.ts'
import { deleteRows, findRow, insertRow, type Row, updateRows } from '../../store/row.ts'

/** How the folders and messages of all mailboxes of a batch are copied. */
export type BatchOptions = {
  specialUse: boolean
  deduplicate: boolean
  allMailOnce: boolean
  destPrefix: string
  folderMap: Record<string, string>
}

export const MAILBOX_STATES = [
  'invalid',
  'waiting_for_owner',
  'ready',
  'queued',
  'syncing',
  'in_sync',
  'needs_attention',
  'paused',
  'done',
] as const
export type MailboxState = (typeof MAILBOX_STATES)[number]

/** Sums over the mailboxes of a batch. Rates are those of the mailboxes that are syncing. */
export type BatchTotals = {
  counts: Record<MailboxState, number>
  messagesDone: number
  messagesTotal: number
  bytesDone: number
  bytesTotal: number
  messagesPerSecond: number
  bytesPerSecond: number
  errorCount: number
  /** Mailboxes to synchronise whose number of messages is not known yet. */
  unknown: number
  /** Mailboxes whose number of messages is known. */
  known: number
  /** Mailboxes in sync whose source has no messages. */
  empty: number
}

/** Mailboxes with the same problem. */
export type ProblemGroup = { code: string; host: string | null; message: string; count: number }

/** The notification of a changed batch. Its payload is the id. */
export const BATCH_CHANGED = 'batch.changed'

/** Notifies the streams of a batch and the dashboards of its workspace of a change. */
export async function notifyBatch(db: Db, workspaceId: string, id: string): Promise<void> {
  await notifyAll(db, batchNotifications(workspaceId, id))
}

/** Notifies of a change of a migration, and of its batch if it has one. */
export async function notifyMigrationAndBatch(
  db: Db,
  { workspaceId, id, batchId }: { workspaceId: string; id: string; batchId: string | null },
): Promise<void> {
  await notifyAll(db, [
    ...migrationNotifications(workspaceId, id),
    ...(batchId === null ? [] : batchNotifications(workspaceId, batchId)),
  ])
}

function batchNotifications(workspaceId: string, id: string): Notification[] {
  return [[BATCH_CHANGED, id], changeNotification(workspaceId, 'migrations', id)]
}

const COLUMNS = [
  'id',
  'workspaceId',
  'name',
  'options',
  'sourceLimit',
  'destinationLimit',
  'pausedAt',
  'finishedAt',
  'createdAt',
  /** Minutes between two passes of its standing synchronization; null without one. */
  'syncMinutes',
  'syncDeletions',
  'syncUntil',
] as const

export type BatchRow = Row<
  'migrationBatch',
  typeof COLUMNS,
  { options: BatchOptions; syncDeletions: SyncOptions['deletions'] | null }
>

type NewBatch = Pick<
  BatchRow,
  'workspaceId' | 'name' | 'options' | 'sourceLimit' | 'destinationLimit'
>

export async function insertBatch(db: Db, batch: NewBatch): Promise<string> {
  const { id } = await insertRow(
    db,
    'migrationBatch',
    { ...batch, options: JSON.stringify(batch.options) },
    ['id'],
  )
  return id
}

/** Counts the batches of a workspace that are not finished, and locks the count. */
export async function countOpenBatches(db: Transaction<DB>, workspaceId: string): Promise<number> {
  await db
    .selectFrom('workspace')
    .select('id')
    .where('id', '=', workspaceId)
    .forUpdate()
    .executeTakeFirstOrThrow()
  const { count } = await db
    .selectFrom('migrationBatch')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspaceId', '=', workspaceId)
    .where('finishedAt', 'is', null)
    .executeTakeFirstOrThrow()
  return count
}

export async function findBatch(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<BatchRow | undefined> {
  return findRow(db, 'migrationBatch', COLUMNS, { workspaceId, id })
}

/** Finds a batch and locks it until the transaction ends; notes that a person uses it. */
export async function lockBatch(
  db: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<BatchRow | undefined> {
  const row = await db
    .updateTable('migrationBatch')
    .set({ usedAt: sql<Date>`now()` })
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .returning(COLUMNS)
    .executeTakeFirst()
  return row as BatchRow | undefined
}

export async function updateBatch(
  db: Db,
  id: string,
  changes: Partial<Omit<BatchRow, 'id' | 'workspaceId' | 'options' | 'createdAt'>>,
): Promise<void> {
  await updateRows(db, 'migrationBatch', { id }, changes)
}

export async function deleteBatch(db: Db, id: string): Promise<void> {
  await deleteRows(db, 'migrationBatch', { id })
}

/** Lists the batches of a workspace, newest first. */
export async function listBatches(
  db: Db,
  workspaceId: string,
  page: { limit: number; offset: number },
): Promise<{ rows: (BatchRow & BatchTotals)[]; total: number }> {
  const { total } = await db
    .selectFrom('migrationBatch')
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirstOrThrow()
  const batches = (await db
    .selectFrom('migrationBatch')
    .select(COLUMNS)
    .where('workspaceId', '=', workspaceId)
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()) as BatchRow[]
  const totals = await readTotals(
    db,
    batches.map(({ id }) => id),
  )
  return { rows: batches.map((row) => ({ ...row, ...totalsOf(totals, row.id) })), total }
}

export const NO_TOTALS: BatchTotals = {
  counts: Object.fromEntries(MAILBOX_STATES.map((state) => [state, 0])) as BatchTotals['counts'],
  messagesDone: 0,
  messagesTotal: 0,
  bytesDone: 0,
  bytesTotal: 0,
  messagesPerSecond: 0,
  bytesPerSecond: 0,
  errorCount: 0,
  unknown: 0,
  known: 0,
  empty: 0,
}

export function totalsOf(totals: ReadonlyMap<string, BatchTotals>, id: string): BatchTotals {
  return totals.get(id) ?? NO_TOTALS
}

/** Adds up the mailboxes of batches, by id of the batch. */
export async function readTotals(
  db: Db,
  ids: readonly string[],
): Promise<Map<string, BatchTotals>> {
  const { rows } = await sql<BatchTotals & { batchId: string; counts: object }>`
    select batch_id, jsonb_object_agg(state, number) as counts,
      sum(messages_done)::bigint as messages_done, sum(messages_total)::bigint as messages_total,
      sum(bytes_done)::bigint as bytes_done, sum(bytes_total)::bigint as bytes_total,
      sum(messages_rate)::float8 as messages_per_second, sum(bytes_rate)::bigint as bytes_per_second,
      sum(errors)::bigint as error_count, sum(unknown)::int as unknown, sum(known)::int as known,
      sum(empty)::int as empty
    from (
      select batch_id, state, count(*)::int as number,
        sum(messages_done) as messages_done, sum(messages_total) as messages_total,
        sum(bytes_done) as bytes_done, coalesce(sum(bytes_total), 0) as bytes_total,
        coalesce(sum(messages_per_second) filter (where state = 'syncing'), 0) as messages_rate,
        coalesce(sum(bytes_per_second) filter (where state = 'syncing'), 0) as bytes_rate,
        sum(error_count) as errors,
        count(*) filter (where messages_total = 0 and state in ('ready', 'queued', 'syncing')) as unknown,
        count(*) filter (where messages_total > 0) as known,
        count(*) filter (where messages_total = 0 and state in ('in_sync', 'done')) as empty
      from batch_mailbox where batch_id = any(${ids}::uuid[]) group by batch_id, state
    ) by_state group by batch_id`.execute(db)
  return new Map(
    rows.map(({ batchId, counts, ...sums }) => [
      batchId,
      { ...sums, counts: { ...NO_TOTALS.counts, ...counts } },
    ]),
  )
}

/** Problems shown with a batch; with more, the rarest are left out. */
const MAX_PROBLEM_GROUPS = 50

/** Groups the mailboxes that are invalid or need attention by cause, the most frequent first. */
export async function listProblems(db: Db, batchId: string): Promise<ProblemGroup[]> {
  return db
    .selectFrom('batchMailbox')
    .select(({ fn }) => [
      'problem as code',
      'problemHost as host',
      fn.min<string>('message').as('message'),
      fn.countAll<number>().as('count'),
    ])
    .where('batchId', '=', batchId)
    .where('state', 'in', ['invalid', 'needs_attention'])
    .groupBy(['problem', 'problemHost'])
    .orderBy('count', 'desc')
    .orderBy('problem')
    .orderBy('problemHost')
    .limit(MAX_PROBLEM_GROUPS)
    .execute() as Promise<ProblemGroup[]>
}

/** Ends a batch with its cut-over: what is in sync is done, all passwords and sign-ins are deleted. */
export async function finishBatch(
  db: Transaction<DB>,
  { workspaceId, id }: Pick<BatchRow, 'id' | 'workspaceId'>,
): Promise<void> {
  await db
    .updateTable('migrationBatch')
    .set({ finishedAt: sql<Date>`now()`, pausedAt: null, syncMinutes: null })
    .where('id', '=', id)
    .execute()
  await db
    .updateTable('batchMailbox')
    .set({ state: 'done', changedAt: sql<Date>`clock_timestamp()` })
    .where('batchId', '=', id)
    .where('state', '=', 'in_sync')
    .execute()
  await deleteBatchSyncs(db, id)
  await sql`delete from batch_mailbox_secret where mailbox_id in (select id from batch_mailbox where batch_id = ${id})`.execute(
    db,
  )
  await sql`delete from migration_secret where migration_id in (select id from migration where batch_id = ${id})`.execute(
    db,
  )
  await db
    .updateTable('migration')
    .set({ status: 'failed', completedAt: sql<Date>`now()` })
    .where('batchId', '=', id)
    .where('status', '=', 'paused')
    .execute()
  await db
    .updateTable('migrationCutover')
    .set({ endedAt: sql<Date>`now()`, outcome: 'cancelled' })
    .where('batchId', '=', id)
    .where('endedAt', 'is', null)
    .execute()
  await releaseCredentials(db, workspaceId, await listBatchCredentials(db, id), 0)
}

/** Ends the synchronizations of batches whose time is over. */
export async function expireBatchSyncs(db: Db): Promise<void> {
  await db
    .updateTable('migrationBatch')
    .set({ syncMinutes: null, syncDeletions: null, syncUntil: null })
    .where('syncUntil', '<', sql<Date>`now()`)
    .execute()
}

/** Lists batches that nobody has used for long and that have nothing left to do by themselves. */
export async function listIdleBatches(db: Db): Promise<Pick<BatchRow, 'id' | 'workspaceId'>[]> {
  return (
    db
      .selectFrom('migrationBatch as b')
      .select(['b.id', 'b.workspaceId'])
      .where('b.finishedAt', 'is', null)
      .where((eb) => eb.not(isInDeletedWorkspace('b.workspaceId')))
      // A synchronization ends by itself.
      .where('b.syncMinutes', 'is', null)
      .where('b.usedAt', '<', sql<Date>`now() - make_interval(days => ${BATCH_LIMITS.idleDays})`)
      .where(
        sql<boolean>`not exists (
      select from batch_mailbox m where m.batch_id = b.id and m.active_id is not null)`,
      )
      .limit(100)
      .execute()
  )
}

/** Whether a mailbox of a batch counts toward a month. */
export async function hasCountedMigration(db: Db, batchId: string): Promise<boolean> {
  const row = await db
    .selectFrom('migration')
    .select('id')
    .where('batchId', '=', batchId)
    .where('counted', '=', true)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}
