import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../../store/database.ts'
import { isInDeletedWorkspace } from '../../../store/deleted-workspaces.ts'
import type { SyncOptions } from '../../engine/sync/pass.ts'
import type { AccountAddress } from '../../migrations.sql.ts'
import { dueInTurn, type DueRows } from '../../../store/due-rows.ts'
import { responsibleFor } from '../../../store/responsible.ts'
import { ADVISORY_LOCKS } from '../../../store/advisory-locks.ts'
import { BATCH_LIMITS } from '../limits.ts'
import type { Pass } from '../mailboxes/batch-mailboxes.sql.ts'
import type { BatchOptions } from '../batches.sql.ts'

/** A queued mailbox that can be started. */
export type Candidate = {
  id: string
  batchId: string
  workspaceId: string
  /** The account that answers for its workspace. */
  responsibleId: string
  pass: Pass
  source: AccountAddress
  destination: AccountAddress
  sourceHost: string
  destinationHost: string
  dryRunId: string | null
  migrationId: string | null
  options: BatchOptions
  sourceLimit: number
  destinationLimit: number
  sealed: string | null
  /** The standing synchronization of its batch. */
  syncMinutes: number | null
  syncDeletions: SyncOptions['deletions'] | null
}

/** Holds the scheduling lock of all instances until the transaction ends. */
export async function lockScheduling(db: Db): Promise<void> {
  await sql`select pg_advisory_xact_lock(${ADVISORY_LOCKS.batchScheduling})`.execute(db)
}

/** A migration that waits for a worker or runs. */
export type OpenMigration = {
  /** The account that answers for its workspace. */
  responsibleId: string
  batchId: string | null
  source: string
  destination: string
}

/** Migrations of all accounts that wait for a worker or run, also those of no batch. Held ones do not count. */
export async function listOpenMigrations(db: Db): Promise<OpenMigration[]> {
  const { rows } =
    await sql<OpenMigration>`select ${responsibleFor('workspace_id')} as responsible_id, batch_id, lower(source ->> 'host') as source, lower(destination ->> 'host') as destination
    from migration where status in ('pending', 'running') and not ${isInDeletedWorkspace('workspace_id')}`.execute(
      db,
    )
  return rows
}

/** Batches with a host at its limit (`id host`), and accounts that can start no more mailboxes. */
export type Saturated = { sources: string[]; destinations: string[]; accounts: string[] }

/** Mailboxes that can be started, while `lockScheduling` is held. */
const QUEUED_MAILBOXES: DueRows = {
  table: 'batch_mailbox',
  key: 'position',
  dueAt: 'queued_at',
  join: sql`join migration_batch b on b.id = r.batch_id`,
  workspace: 'b.workspace_id',
  where: sql`r.active_id is null and b.paused_at is null and b.finished_at is null`,
}

/**
 * Lists the next mailboxes to start, accounts in turn. A mailbox waits while its batch is paused,
 * or while it was never signed in to and one of its hosts has rejected several sign-ins in a row.
 * @param limit of all accounts together
 */
export async function listCandidates(
  db: Db,
  { sources, destinations, accounts }: Saturated,
  limit: number,
): Promise<Candidate[]> {
  const where = sql`
    not (concat_ws(' ', b.id, r.source_host) = any(${sources}::text[]))
    and not (concat_ws(' ', b.id, r.destination_host) = any(${destinations}::text[]))
    and (r.verified or not exists (select from batch_host h where h.batch_id = r.batch_id
      and h.host in (r.source_host, r.destination_host) and h.rejections >= ${BATCH_LIMITS.maxRejections}))`
  const options = { isDue: sql`r.state = 'queued'`, where, except: accounts, limit }
  const { rows } = await sql<Candidate>`
    select m.id, m.batch_id, b.workspace_id, due.responsible_id, m.pass, m.source, m.destination, m.source_host, m.destination_host,
      m.dry_run_id, m.migration_id, b.options, b.source_limit, b.destination_limit, s.sealed,
      b.sync_minutes, b.sync_deletions
    from (${dueInTurn(QUEUED_MAILBOXES, options, ['id', 'responsible_id', 'turn'])}) due
    join batch_mailbox m on m.id = due.id join migration_batch b on b.id = m.batch_id
    left join batch_mailbox_secret s on s.mailbox_id = m.id
    order by due.turn, m.queued_at, m.position`.execute(db)
  return rows
}

/**
 * Finds what the end of a mailbox leads to: whether a mailbox can be started, because one is queued
 * and fewer than `enough` migrations wait for a worker, and whether the batch has a cut-over.
 * @param waiting selects the migrations of the account that a worker could claim now
 */
export async function findFollowUp(
  db: Db,
  { batchId, waiting, enough }: { batchId: string; waiting: RawBuilder<unknown>; enough: number },
): Promise<{ canStart: boolean; hasCutover: boolean }> {
  const { rows } = await sql<{ canStart: boolean; hasCutover: boolean }>`
    select exists (select from batch_mailbox where state = 'queued' and active_id is null)
        and (select count(*) < ${enough}::int from (${waiting} limit ${enough}) as waiting) as can_start,
      exists (select from migration_cutover where batch_id = ${batchId} and ended_at is null) as has_cutover`.execute(
    db,
  )
  return rows[0] ?? { canStart: true, hasCutover: true }
}
