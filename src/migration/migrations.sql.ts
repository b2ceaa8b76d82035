import { sql, type RawBuilder, type SqlBool, type Transaction } from 'kysely'
import type { Plan } from '../config.ts'
import { KEEP_DAYS } from '../mail-credentials/limits.ts'
import { Fault } from '../errors.ts'
import { boundedOf, type Bounded } from '../store/bounded.ts'
import type { Db } from '../store/database.ts'
import { hasRow, type Row } from '../store/row.ts'
import { isInDeletedWorkspace } from '../store/deleted-workspaces.ts'
import {
  findResponsible,
  largestPlanOf,
  responsibleFor,
  workspacesOf,
} from '../store/responsible.ts'
import { changeNotification } from '../store/changes.ts'
import { notifyAll, type Notification } from '../store/notifications.ts'
import type { Administrator } from '../net/imap/connection/imap-sign-in.ts'
import { containsWords, orderTerm, type Order } from '../store/order.ts'
import { newUuid } from '../store/uuid.ts'
import type { DB } from '../store/tables.ts'
import { retryFailed, type CopyFailure, type SavedFolder } from './engine/journal/journal.ts'
import type { MigrationProgress } from './engine/progress/progress.ts'
import { HELD_DELETIONS } from './sync/syncs.sql.ts'
import type { SyncRow } from './sync/sync-row.ts'
import { releaseCredentials } from './consent/migration-consents.sql.ts'

/** The address of an account, without its secret. */
export type AccountAddress = {
  host: string
  port: number
  secure: boolean
  user: string
  tlsVerify: boolean
  /** Whose password is used. */
  administrator?: Administrator
  /** The permission of the mailbox’s owner, in place of a secret. */
  credentialId?: string
  /** The owner of the mailbox has not signed in yet, by a link. */
  waitsForOwner?: true
  /** The owner has entered the secret, which is for this server and user alone. */
  byOwner?: true
}
export type StoredOptions = {
  deduplicate: boolean
  allMailOnce: boolean
  dryRun: boolean
  folderMap: Record<string, string>
  /** Copies special-use folders to the destination’s folder of the same use. */
  specialUse?: boolean
}
/** `paused`: of a batch that is paused; without a batch, until a person signs in again (OAuth). */
export type MigrationStatus = 'pending' | 'running' | 'paused' | 'completed' | 'failed'

export const COLUMNS = [
  'id',
  'workspaceId',
  /** The batch that it is part of; null otherwise. */
  'batchId',
  'status',
  'source',
  'destination',
  'destPrefix',
  /** Empty: all folders. */
  'folders',
  'options',
  'progress',
  'errorCount',
  'run',
  'stalls',
  'createdAt',
  'startedAt',
  'completedAt',
] as const

export type MigrationRow = Row<
  'migration',
  typeof COLUMNS,
  {
    status: MigrationStatus
    source: AccountAddress
    destination: AccountAddress
    options: StoredOptions
    progress: MigrationProgress
  }
> & {
  /** Null unless it is synchronized again and again. */
  sync: SyncRow | null
  /** Null unless the migration is pending. */
  queue: { position: number; totalInQueue: number } | null
}

type NewRow = Pick<
  MigrationRow,
  'workspaceId' | 'source' | 'destination' | 'destPrefix' | 'folders' | 'options' | 'progress'
> & { batchId?: string; status?: 'paused' }

/** The notification of a changed migration. Its payload is the id. */
export const CHANGED = 'migration.changed'

/** Notifies the streams of a migration and the account’s dashboard of a change. */
export async function notifyMigration(db: Db, workspaceId: string, id: string): Promise<void> {
  await notifyAll(db, migrationNotifications(workspaceId, id))
}

/** The notifications of one migration, to be sent together with others. */
export function migrationNotifications(workspaceId: string, id: string): Notification[] {
  return [[CHANGED, id], changeNotification(workspaceId, 'migrations', id)]
}

/** Errors stored per migration. Further ones are only counted. */
export const ERRORS_KEPT = 1_000

/** Locks the count of migrations of an account until the transaction ends, by its workspaces. */
export async function lockMonth(db: Transaction<DB>, workspaceId: string): Promise<void> {
  await sql`
    select from workspace where responsible_id = ${await findResponsible(db, workspaceId)}
    order by id for no key update`.execute(db)
}

/** What counts toward a month: of a workspace, and over all workspaces of its account. */
export type MonthUsage = {
  plan: Plan
  count: number
  accountPlan: Plan
  accountCount: number
  secondsLeft: number
}

/**
 * Counts the migrations that count toward this calendar month (UTC): those created in it, and those
 * that are synchronized in it; and the seconds until the next month.
 */
export async function countThisMonth(db: Db, workspaceId: string): Promise<MonthUsage> {
  const month = sql`date_trunc('month', now(), 'UTC')`
  const { rows } = await sql<MonthUsage>`
    select w.plan, ${largestPlanOf(sql`w.responsible_id`)} as account_plan, used.*,
      extract(epoch from ${month} + interval '1 month' - now())::double precision as seconds_left
    from workspace w cross join lateral (
      select count(*) filter (where workspace_id = w.id)::int as count, count(*)::int as account_count
      from migration
      where workspace_id in ${workspacesOf(sql`w.responsible_id`)} and counted and counted_at >= ${month}) as used
    where w.id = ${workspaceId}`.execute(db)
  const [usage] = rows
  if (!usage) throw new Fault('not_found', 'Workspace not found.')
  return usage
}

/**
 * Inserts a migration and its encrypted secrets. Notifies of a single one: of those of a batch, the
 * scheduler notifies together.
 * @param sealedBy encrypts the secrets for the new row’s id
 */
export async function insertMigration(
  db: Db,
  row: NewRow,
  sealedBy: (id: string) => string,
): Promise<string> {
  const { source, destination, options, progress } = row
  const id = newUuid()
  const json = {
    source: JSON.stringify(source),
    destination: JSON.stringify(destination),
    options: JSON.stringify(options),
    progress: JSON.stringify(progress),
  }
  await db
    .with('inserted', (trx) =>
      trx
        .insertInto('migration')
        .values({ id, ...row, ...json, counted: !options.dryRun })
        .returning('id'),
    )
    .insertInto('migrationSecret')
    .columns(['migrationId', 'sealed'])
    .expression((eb) =>
      eb.selectFrom('inserted').select(['id', sql<string>`${sealedBy(id)}`.as('sealed')]),
    )
    .execute()
  if (row.batchId === undefined) await notifyMigration(db, row.workspaceId, id)
  return id
}

export async function findMigration(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<MigrationRow | undefined> {
  const row = await selectMigrations(db)
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row && rowOf(row)
}

/** Finds a migration with the errors that its progress counts, as of one time. */
export async function findMigrationWithErrors(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<(MigrationRow & { errors: CopyFailure[] }) | undefined> {
  const found = await selectMigrations(db)
    .select(
      sql<CopyFailure[]>`(
        select coalesce(json_agg(shown), '[]') from (
          select folder, uid, message_id as "messageId", size, code, message, attempts
          from migration_error where migration_id = migration.id
          order by id limit least(error_count, ${ERRORS_KEPT})
        ) shown)`.as('errors'),
    )
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .executeTakeFirst()
  return found && { ...rowOf(found), errors: found.errors }
}

/** Dates within JSON are texts. */
function rowOf(row: object): MigrationRow {
  const { sync, ...rest } = row as MigrationRow
  if (!sync) return { ...rest, sync: null }
  const dateOf = (value: Date | null) => value && new Date(value)
  const { nextAt, until, lastStartedAt, lastEndedAt } = sync
  return {
    ...rest,
    sync: {
      ...sync,
      nextAt: dateOf(nextAt),
      until: new Date(until),
      lastStartedAt: dateOf(lastStartedAt),
      lastEndedAt: dateOf(lastEndedAt),
    },
  }
}

/** Whether a migration is part of a batch. */
export async function isOfBatch(db: Db, workspaceId: string, id: string): Promise<boolean> {
  const row = await findMigration(db, workspaceId, id)
  return row !== undefined && row.batchId !== null
}

export const MIGRATION_ORDERS = ['createdAt', 'srcUser', 'status', 'progress'] as const
export type MigrationOrder = Order<(typeof MIGRATION_ORDERS)[number]>

const ORDER_COLUMNS = {
  createdAt: sql`id`,
  srcUser: sql`lower(source ->> 'user')`,
  status: sql`status`,
  progress: sql`coalesce(
    (progress ->> 'messagesDone')::float / nullif((progress ->> 'messagesTotal')::float, 0), 0)`,
}

/** Lists migrations, newest first unless ordered otherwise. */
export async function listMigrations(
  db: Db,
  workspaceId: string,
  { q, order = '-createdAt' }: { q?: string | undefined; order?: MigrationOrder | undefined },
  page: { limit: number; offset: number },
): Promise<MigrationRow[]> {
  const rows = await selectMigrations(db)
    .where(isFound(workspaceId, q))
    .orderBy(orderTerm(order, ORDER_COLUMNS))
    .orderBy('id', 'desc')
    .limit(page.limit)
    .offset(page.offset)
    .execute()
  return rows.map(rowOf)
}

export type FailedMigration = Pick<MigrationRow, 'id' | 'errorCount'> & {
  /** The user of the source. */
  user: string
}

/** Lists single migrations that failed and were created since then, without dry runs, newest first. */
export async function listFailedMigrations(
  db: Db,
  workspaceId: string,
  since: Date,
  limit: number,
): Promise<Bounded<FailedMigration>> {
  const { rows } = await sql<FailedMigration & { total: number }>`
    select id, error_count, source ->> 'user' as user, (count(*) over ())::int as total
    from migration
    where workspace_id = ${workspaceId} and batch_id is null and status = 'failed'
      and created_at > ${since} and not (options ->> 'dryRun')::bool
    order by id desc limit ${limit}`.execute(db)
  return boundedOf(rows)
}

export async function countMigrations(db: Db, workspaceId: string, q?: string): Promise<number> {
  const { count } = await db
    .selectFrom('migration')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where(isFound(workspaceId, q))
    .executeTakeFirstOrThrow()
  return count
}

/** The single migrations of a workspace, without those of batches; with `q`, those whose accounts or status contain its words. */
function isFound(workspaceId: string, q = ''): RawBuilder<SqlBool> {
  return sql`workspace_id = ${workspaceId} and batch_id is null and ${containsWords(
    q,
    sql`concat_ws(' ', source ->> 'user', source ->> 'host', destination ->> 'user', destination ->> 'host', status)`,
  )}`
}

/**
 * Selects migrations with their position in the queue of the whole installation. The order is that
 * of the claims (`nextGroup` in src/jobs/shares.ts): accounts take turns, and running migrations
 * count as a turn of the account that answers for their workspace.
 */
function selectMigrations(db: Db) {
  return db.selectFrom('migration').select([
    ...COLUMNS,
    sql<MigrationRow['queue']>`case when status = 'pending' then (
      with open as materialized (
        select q.id, q.queued_at, q.status, ${responsibleFor('q.workspace_id')} as responsible_id
        from migration q where q.status in ('pending', 'running') and not ${isInDeletedWorkspace('q.workspace_id')}),
      line as materialized (
        select q.id, q.queued_at, row_number() over (partition by q.responsible_id order by q.queued_at, q.id) + (
          select count(*) from open r where r.responsible_id = q.responsible_id and r.status = 'running') as turn
        from open q where q.status = 'pending')
      select json_build_object(
        'position', count(*) filter (where (line.turn, line.queued_at, line.id) <= (own.turn, own.queued_at, own.id)),
        'totalInQueue', count(*)
      ) from line, (select * from line where id = migration.id) own
    ) end`.as('queue'),
    sql<MigrationRow['sync']>`(
      select json_build_object('migrationId', migration_id, 'everyMinutes', every_minutes, 'deletions', deletions,
        'nextAt', next_at, 'until', until, 'passes', passes, 'lastStartedAt', last_started_at,
        'lastEndedAt', last_ended_at, 'lastChanges', last_changes, 'lastError', last_error,
        'heldDeletions', ${HELD_DELETIONS})
      from migration_sync where migration_id = migration.id)`.as('sync'),
  ])
}

/**
 * Counts the errors of a migration and one that follows: the progress of a running migration may not
 * count the latest yet.
 */
export function countWithOneMore(): RawBuilder<number> {
  return sql`1 + greatest(error_count,
    (select count(*)::int from migration_error e where e.migration_id = migration.id))`
}

/** Lists errors, oldest first. */
export async function listErrors(db: Db, id: string): Promise<CopyFailure[]> {
  return db
    .selectFrom('migrationError')
    .select(['folder', 'uid', 'messageId', 'size', 'code', 'message', 'attempts'])
    .where('migrationId', '=', id)
    .orderBy('id')
    .limit(ERRORS_KEPT)
    .execute()
}

/** Whether the secrets of a migration are stored. */
export async function hasSecret(db: Db, id: string): Promise<boolean> {
  return hasRow(db, 'migrationSecret', { migrationId: id })
}

/** Stores the encrypted secrets of a migration, or replaces them. */
async function saveSecret(db: Db, id: string, sealed: string): Promise<void> {
  await db
    .insertInto('migrationSecret')
    .values({ migrationId: id, sealed })
    .onConflict((conflict) => conflict.column('migrationId').doUpdateSet({ sealed }))
    .execute()
}

/** Replaces the sign-ins of both accounts of a migration. */
export async function saveSides(
  db: Db,
  { id, source, destination }: Sides & Pick<MigrationRow, 'id'>,
  sealed: string,
): Promise<void> {
  await db
    .updateTable('migration')
    .set({ source: JSON.stringify(source), destination: JSON.stringify(destination) })
    .where('id', '=', id)
    .execute()
  await saveSecret(db, id, sealed)
}

/** Deletes the secrets of a migration that neither waits nor runs. */
export async function eraseEndedSecret(db: Db, id: string): Promise<void> {
  await sql`delete from migration_secret where migration_id in (
    select id from migration where id = ${id} and status in ('completed', 'failed'))`.execute(db)
}

type Sides = Pick<MigrationRow, 'source' | 'destination'>

/** The credentials of both sides. */
export function credentialsOf({
  source,
  destination,
}: Record<keyof Sides, Partial<AccountAddress>>): string[] {
  return [source.credentialId, destination.credentialId].filter((id) => id !== undefined)
}

/** Deletes the secrets of a migration. */
export async function eraseSecret(db: Db, id: string): Promise<void> {
  await db.deleteFrom('migrationSecret').where('migrationId', '=', id).execute()
}

/** Cancels a migration; false when it has ended or belongs to another account. */
export async function cancelMigration(
  db: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<boolean> {
  const row = await db
    .updateTable('migration')
    .set({
      status: 'failed',
      completedAt: sql<Date>`now()`,
      errorCount: countWithOneMore(),
    })
    .where('id', '=', id)
    .where('workspaceId', '=', workspaceId)
    .where('status', 'in', ['pending', 'running', 'paused'])
    .where('batchId', 'is', null)
    .returning(['id', 'source', 'destination'])
    .executeTakeFirst()
  if (!row) return false
  await releaseCredentials(
    db,
    workspaceId,
    credentialsOf(row as unknown as Sides),
    KEEP_DAYS.failed,
  )
  const none = { uid: null, messageId: null, size: null }
  await addErrors(db, id, [
    { folder: '', code: 'cancelled', message: 'It was cancelled.', attempts: 1, ...none },
  ])
  await db.deleteFrom('migrationSync').where('migrationId', '=', id).execute()
  await eraseSecret(db, id)
  await notifyMigration(db, workspaceId, id)
  return true
}

/** Queues an ended migration for a pass of its synchronization; false when it has not ended. */
export async function requeueForPass(
  db: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<boolean> {
  const row = await db
    .updateTable('migration')
    .set(QUEUED_AGAIN)
    .where('id', '=', id)
    .where('status', 'in', ['completed', 'failed'])
    .returning('id')
    .executeTakeFirst()
  if (!row) return false
  await retryFailedMessages(db, id)
  await notifyMigration(db, workspaceId, id)
  return true
}

/**
 * Enqueues a failed migration again, with its failed messages left to copy; false when it has not
 * failed.
 * @param status `paused` until the owner of a mailbox has signed in
 */
export async function requeueMigration(
  db: Transaction<DB>,
  { workspaceId, id, source, destination }: Sides & Pick<MigrationRow, 'id' | 'workspaceId'>,
  sealed: string,
  status: 'pending' | 'paused',
): Promise<boolean> {
  const row = await db
    .updateTable('migration')
    .set({
      ...QUEUED_AGAIN,
      status,
      source: JSON.stringify(source),
      destination: JSON.stringify(destination),
    })
    .where('id', '=', id)
    .where('workspaceId', '=', workspaceId)
    .where('batchId', 'is', null)
    .where('status', '=', 'failed')
    .returning('id')
    .executeTakeFirst()
  if (!row) return false
  await retryFailedMessages(db, id)
  await saveSecret(db, id, sealed)
  await notifyMigration(db, workspaceId, id)
  return true
}

/** Queues a migration that waited until a person signed in again. It continues where it stopped. */
export async function resumeMigration(
  db: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<void> {
  await db.updateTable('migration').set(QUEUED_AGAIN).where('id', '=', id).execute()
  await retryFailedMessages(db, id)
  await notifyMigration(db, workspaceId, id)
}

/** Fails a migration for which nobody signed in again in time. */
export async function failAbandoned(
  db: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<void> {
  const row = await db
    .updateTable('migration')
    .set({ status: 'failed', completedAt: sql<Date>`now()` })
    .where('id', '=', id)
    .where('status', '=', 'paused')
    .returning('id')
    .executeTakeFirst()
  if (!row) return
  await eraseSecret(db, id)
  await notifyMigration(db, workspaceId, id)
}

/**
 * Queues a migration of a batch for a further pass, whether it failed, completed or was paused. Its
 * journal stays.
 */
export async function reopenMigration(
  db: Transaction<DB>,
  id: string,
  { source, destination }: Pick<MigrationRow, 'source' | 'destination'>,
  sealed: string,
): Promise<void> {
  await db
    .updateTable('migration')
    .set({
      ...QUEUED_AGAIN,
      source: JSON.stringify(source),
      destination: JSON.stringify(destination),
    })
    .where('id', '=', id)
    .where('status', 'not in', ['pending', 'running'])
    .execute()
  await retryFailedMessages(db, id)
  await saveSecret(db, id, sealed)
}

/** Columns of a migration that is queued again. */
const QUEUED_AGAIN = {
  status: 'pending',
  queuedAt: sql<Date>`now()`,
  startedAt: null,
  completedAt: null,
  errorCount: 0,
  stalls: 0,
}

/** Leaves failed messages to be copied again, and forgets their errors. */
async function retryFailedMessages(db: Transaction<DB>, id: string): Promise<void> {
  const folders = await db
    .selectFrom('migrationFolder')
    .select(['folder', 'state'])
    .where('migrationId', '=', id)
    .execute()
  for (const { folder, state } of folders) {
    const retried = retryFailed(state as SavedFolder)
    if (retried === state) continue
    const again = JSON.stringify(retried)
    await db
      .updateTable('migrationFolder')
      .set({ state: again })
      .where('migrationId', '=', id)
      .where('folder', '=', folder)
      .execute()
  }
  await db.deleteFrom('migrationError').where('migrationId', '=', id).execute()
}

/** The last error of a whole migration, as opposed to one of a folder or a message. */
export async function findMainError(db: Db, id: string): Promise<CopyFailure | undefined> {
  return db
    .selectFrom('migrationError')
    .select(['folder', 'uid', 'messageId', 'size', 'code', 'message', 'attempts'])
    .where('migrationId', '=', id)
    .where('folder', '=', '')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** Stores errors, up to `ERRORS_KEPT` of a migration. @returns how many are stored */
export async function addErrors(
  db: Db,
  id: string,
  failures: readonly CopyFailure[],
): Promise<number> {
  const { count } = await db
    .selectFrom('migrationError')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('migrationId', '=', id)
    .executeTakeFirstOrThrow()
  const rows = failures
    .slice(0, Math.max(0, ERRORS_KEPT - count))
    .map((failure) => ({ migrationId: id, ...failure }))
  if (rows.length > 0) await db.insertInto('migrationError').values(rows).execute()
  return count + rows.length
}
