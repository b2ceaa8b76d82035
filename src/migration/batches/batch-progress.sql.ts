// The states of mailboxes while they wait, run and end.
import { sql, type QueryCreator, type RawBuilder } from 'kysely'
import type { Db } from '../../store/database.ts'
import { lockRow } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'
import type { MigrationProgress } from '../engine/progress/progress.ts'
import { NOW, type MailboxRow, type Pass } from './mailboxes/batch-mailboxes.sql.ts'
import type { MailboxState } from './batches.sql.ts'

/** Columns of a mailbox without a problem. */
const NO_PROBLEM = { problem: null, problemHost: null, message: null }

/** Queues mailboxes of a batch in these states. @returns how many */
export async function queueMailboxes(
  db: Db,
  batchId: string,
  states: readonly MailboxState[],
  pass: Pass | null,
  filter: {
    problem?: string | undefined
    host?: string | undefined
    ids?: string[] | undefined
  } = {},
): Promise<number> {
  const { problem, host, ids } = filter
  const { numUpdatedRows } = await db
    .updateTable('batchMailbox')
    .set({
      state: 'queued',
      queuedAt: sql<Date>`now()`,
      changedAt: NOW,
      ...NO_PROBLEM,
      ...(pass && { pass }),
    })
    .where('batchId', '=', batchId)
    .where('state', 'in', states)
    .$if(problem !== undefined, (query) => query.where('problem', '=', problem as string))
    .$if(host !== undefined, (query) => query.where('problemHost', '=', host as string))
    .$if(ids !== undefined, (query) => query.where('id', 'in', ids as string[]))
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/**
 * Pauses the queued and syncing mailboxes of a batch. Their workers notice within a second; what
 * they have copied stays.
 * @param id of a single mailbox
 */
export async function pauseMailboxes(db: Db, batchId: string, id?: string): Promise<void> {
  await sql`update migration set status = 'paused'
    where status in ('pending', 'running') and id in (
      select active_id from batch_mailbox where batch_id = ${batchId} and active_id is not null
        and (${id ?? null}::uuid is null or id = ${id ?? null}))`.execute(db)
  await db
    .updateTable('batchMailbox')
    .set({
      state: 'paused',
      activeId: null,
      changedAt: NOW,
      messagesPerSecond: 0,
      bytesPerSecond: 0,
    })
    .where('batchId', '=', batchId)
    .where('state', 'in', ['queued', 'syncing'])
    .$if(id !== undefined, (query) => query.where('id', '=', id as string))
    .execute()
}

/** Records that a mailbox has a place in the queue of migrations. */
export async function markStarted(
  db: Db,
  id: string,
  pass: Pass,
  migrationId: string,
): Promise<void> {
  await db
    .updateTable('batchMailbox')
    .set({
      activeId: migrationId,
      changedAt: NOW,
      ...(pass === 'sync' ? { migrationId } : { dryRunId: migrationId }),
    })
    .where('id', '=', id)
    .execute()
}

/** Records that a worker has claimed the migration of a mailbox, as a part of the claim. */
export function markSyncing(db: QueryCreator<DB>, activeIds: RawBuilder<string>) {
  return db
    .updateTable('batchMailbox')
    .set({ state: 'syncing', changedAt: NOW })
    .where('activeId', 'in', activeIds)
    .where('state', '=', 'queued')
}

/** Records that the migration of a mailbox waits for a worker again. */
export async function markQueued(db: Db, activeId: string): Promise<void> {
  await db
    .updateTable('batchMailbox')
    .set({ state: 'queued', messagesPerSecond: 0, bytesPerSecond: 0, changedAt: NOW })
    .where('activeId', '=', activeId)
    .where('state', '=', 'syncing')
    .execute()
}

/** The columns of a mailbox that follow the progress of its migration. */
function progressColumns(progress: MigrationProgress, isDryRun: boolean) {
  const { messagesDone, messagesTotal, bytesDone, bytesTotal, errorCount } = progress
  return {
    messagesTotal,
    bytesTotal,
    errorCount,
    ...(!isDryRun && { messagesDone, bytesDone }),
  }
}

/** Saves the progress of a running migration with its mailbox. */
export async function saveProgress(
  db: Db,
  activeId: string,
  progress: MigrationProgress,
  isDryRun: boolean,
): Promise<void> {
  const { messagesPerSecond, bytesPerSecond } = progress
  await db
    .updateTable('batchMailbox')
    .set({
      ...progressColumns(progress, isDryRun),
      messagesPerSecond,
      bytesPerSecond,
      changedAt: NOW,
    })
    .where('activeId', '=', activeId)
    .execute()
}

/** The result of a migration of a mailbox. `problem` is null when it succeeded. */
export type MailboxResult = {
  pass: Pass
  progress: MigrationProgress
  /** Whether both sides have accepted the sign-in. */
  verified: boolean
  problem: { code: string; host: string | null; message: string } | null
}

/**
 * Saves the result of a migration with its mailbox.
 * @returns whether no other mailbox of the batch is syncing
 */
export async function saveResult(
  db: Db,
  activeId: string,
  { pass, progress, verified, problem }: MailboxResult,
): Promise<boolean> {
  const done = pass === 'sync' ? ('in_sync' as const) : ('ready' as const)
  const isSynced = pass === 'sync' && problem === null
  const row = await db
    .updateTable('batchMailbox')
    .set({
      state: problem ? 'needs_attention' : done,
      activeId: null,
      problem: problem?.code ?? null,
      problemHost: problem?.host ?? null,
      message: problem?.message ?? null,
      messagesPerSecond: 0,
      bytesPerSecond: 0,
      changedAt: NOW,
      // A run that could not sign in knows nothing about the messages.
      ...(verified && { verified, ...progressColumns(progress, pass === 'dry_run') }),
      ...(isSynced && { syncedAt: NOW, passes: sql<number>`passes + 1` }),
    })
    .where('activeId', '=', activeId)
    .returning(
      sql<boolean>`not exists (
        select from batch_mailbox other
        where other.batch_id = batch_mailbox.batch_id and other.id <> batch_mailbox.id
          and other.state = 'syncing')`.as('isLast'),
    )
    .executeTakeFirst()
  return row?.isLast ?? false
}

/** Records a problem of mailboxes that were not started. */
export async function markProblem(
  db: Db,
  ids: readonly string[],
  problem: { code: string; message: string },
): Promise<void> {
  await db
    .updateTable('batchMailbox')
    .set({
      state: 'needs_attention',
      problem: problem.code,
      problemHost: null,
      message: problem.message,
      changedAt: NOW,
    })
    .where('id', 'in', ids)
    .where('state', '=', 'queued')
    .execute()
}

/** The mailbox whose migration waits or runs. */
export type ActiveMailbox = Pick<MailboxRow, 'id' | 'pass' | 'verified'> & {
  /** Whether a host of its batch has rejected a sign-in. */
  hasRejections: boolean
}

/** Finds the mailbox whose migration waits or runs, and locks it. */
export async function findActive(db: Db, activeId: string): Promise<ActiveMailbox | undefined> {
  return lockRow(
    db,
    'batchMailbox',
    [
      'id',
      'pass',
      'verified',
      sql<boolean>`exists (
        select from batch_host h where h.batch_id = batch_mailbox.batch_id)`.as('hasRejections'),
    ],
    { activeId },
  )
}

/** The codes of problems that a new sign-in at the provider ends. */
const SIGN_IN_PROBLEMS = ['consent_needed', 'client_rejected']

/**
 * Queues the mailboxes of batches again that need attention because of a credential.
 * @returns the batches
 */
export async function queueWaitingMailboxes(
  db: Db,
  workspaceId: string,
  credentialId: string,
): Promise<string[]> {
  const { rows } = await sql<{ batchId: string }>`
    update batch_mailbox m set state = 'queued', queued_at = now(), changed_at = clock_timestamp(),
      problem = null, problem_host = null, message = null
    from migration_batch b
    where b.id = m.batch_id and b.workspace_id = ${workspaceId} and b.finished_at is null
      and m.state = 'needs_attention' and m.problem = any(${SIGN_IN_PROBLEMS}::text[])
      and (m.source ->> 'credentialId' = ${credentialId} or m.destination ->> 'credentialId' = ${credentialId})
    returning m.batch_id`.execute(db)
  return [...new Set(rows.map(({ batchId }) => batchId))]
}
