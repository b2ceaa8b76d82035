import { sql } from 'kysely'
import type { Db } from '../store/database.ts'
import { isInDeletedWorkspace } from '../store/deleted-workspaces.ts'
import { responsibleFor } from '../store/responsible.ts'

export const FREQUENCIES = ['off', 'daily', 'weekly'] as const
export type Frequency = (typeof FREQUENCIES)[number]

export type Outcome = 'sent' | 'failed' | 'uncertain' | 'skipped'

/** A member of a workspace. */
export type Member = { workspaceId: string; accountId: string }

export type Settings = { frequency: Frequency; weekday: number; hour: number; timeZone: string }

export type SubscriptionRow = Member &
  Settings & {
    dueAt: Date | null
    coveredUntil: Date | null
    outcome: Outcome | null
    outcomeAt: Date | null
    error: string | null
  }

/** A digest that is being sent; `run` identifies this attempt. */
export type ClaimedDigest = SubscriptionRow & { dueAt: Date; run: number; attempts: number }

const COLUMNS = [
  'workspaceId',
  'accountId',
  'frequency',
  'weekday',
  'hour',
  'timeZone',
  'dueAt',
  'coveredUntil',
  'outcome',
  'outcomeAt',
  'error',
] as const

export async function findSubscription(
  db: Db,
  { workspaceId, accountId }: Member,
): Promise<SubscriptionRow | undefined> {
  const row = await db
    .selectFrom('digestSubscription')
    .select(COLUMNS)
    .where('workspaceId', '=', workspaceId)
    .where('accountId', '=', accountId)
    .executeTakeFirst()
  return row as SubscriptionRow | undefined
}

/** When a digest is due, and when it is first attempted. */
export type Timing = { dueAt: Date | null; attemptAt: Date | null }

/**
 * Saves the settings of a member; an attempt in transit writes nothing afterwards. A digest that was
 * off starts with a period of its usual length.
 * @returns undefined when the account is not a member
 */
export async function saveSubscription(
  db: Db,
  { workspaceId, accountId }: Member,
  settings: Settings,
  timing: Timing,
): Promise<SubscriptionRow | undefined> {
  const { frequency, weekday, hour, timeZone } = settings
  const { rows } = await sql<SubscriptionRow>`
    insert into digest_subscription as s (workspace_id, account_id, frequency, weekday, hour, time_zone, due_at, attempt_at)
    select workspace_id, account_id, ${frequency}, ${weekday}::smallint, ${hour}::smallint, ${timeZone},
      ${timing.dueAt}::timestamptz, ${timing.attemptAt}::timestamptz
    from membership where workspace_id = ${workspaceId} and account_id = ${accountId}
    on conflict (workspace_id, account_id) do update set frequency = excluded.frequency, weekday = excluded.weekday,
      hour = excluded.hour, time_zone = excluded.time_zone, due_at = excluded.due_at, attempt_at = excluded.attempt_at,
      state = 'waiting', claimed_until = null, attempts = 0, run = s.run + 1,
      covered_until = case when s.frequency = 'off' then null else s.covered_until end
    returning workspace_id, account_id, frequency, weekday, hour, time_zone, due_at, covered_until,
      outcome, outcome_at, error`.execute(db)
  return rows[0]
}

/** Turns a digest off. @returns false when it was off before, or the account is not a member */
export async function unsubscribe(db: Db, { workspaceId, accountId }: Member): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('digestSubscription')
    .set(({ eb }) => ({
      frequency: 'off',
      dueAt: null,
      attemptAt: null,
      state: 'waiting',
      claimedUntil: null,
      run: eb('run', '+', 1),
    }))
    .where('workspaceId', '=', workspaceId)
    .where('accountId', '=', accountId)
    .where('frequency', '<>', 'off')
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Due digests, one of each account in turn. Those of deleted workspaces wait. */
export async function listDueDigests(db: Db, now: Date, limit: number): Promise<Member[]> {
  const { rows } = await sql<Member>`
    select workspace_id, account_id from (
      select workspace_id, account_id, attempt_at,
        row_number() over (partition by ${responsibleFor('s.workspace_id')} order by attempt_at, account_id) as turn
      from digest_subscription s
      where attempt_at <= ${now} and state = 'waiting' and not ${isInDeletedWorkspace('s.workspace_id')}) as due
    order by turn, attempt_at, account_id limit ${limit}`.execute(db)
  return rows
}

/** Claims a due digest; undefined when it is not due, or another instance has it. */
export async function claimDigest(
  db: Db,
  { workspaceId, accountId }: Member,
  now: Date,
  leaseSeconds: number,
): Promise<ClaimedDigest | undefined> {
  const row = await db
    .updateTable('digestSubscription')
    .set(({ eb }) => ({
      state: 'sending',
      run: eb('run', '+', 1),
      attempts: eb('attempts', '+', 1),
      claimedUntil: new Date(now.getTime() + leaseSeconds * 1000),
    }))
    .where('workspaceId', '=', workspaceId)
    .where('accountId', '=', accountId)
    .where('state', '=', 'waiting')
    .where('attemptAt', '<=', now)
    .returning([...COLUMNS, 'run', 'attempts'])
    .executeTakeFirst()
  return row as ClaimedDigest | undefined
}

/**
 * Records that the relay may have the email from now on; false when this attempt no longer has the
 * digest: the member unsubscribed or left meanwhile.
 */
export async function markHandedOver(db: Db, digest: ClaimedDigest): Promise<boolean> {
  return changeClaimed(db, digest, { state: 'handed-over' })
}

export type DigestEnd = {
  outcome: Outcome
  outcomeAt: Date
  error: string | null
  /** Null where the period belongs to the next digest, too. */
  coveredUntil: Date | null
}

/** Ends a digest and schedules the next one. */
export async function markEnded(
  db: Db,
  digest: ClaimedDigest,
  { coveredUntil, ...end }: DigestEnd,
  timing: Timing,
): Promise<boolean> {
  return changeClaimed(db, digest, {
    ...end,
    ...(coveredUntil && { coveredUntil }),
    ...timing,
    attempts: 0,
    state: 'waiting',
    claimedUntil: null,
  })
}

/** Schedules another attempt. */
export async function markPostponed(
  db: Db,
  digest: ClaimedDigest,
  attemptAt: Date,
  error: string,
): Promise<void> {
  await changeClaimed(db, digest, { state: 'waiting', attemptAt, error, claimedUntil: null })
}

type Change = Partial<DigestEnd> &
  Partial<Timing> & { state: string; attempts?: number; claimedUntil?: Date | null }

async function changeClaimed(
  db: Db,
  { workspaceId, accountId, run }: ClaimedDigest,
  change: Change,
): Promise<boolean> {
  const row = await db
    .updateTable('digestSubscription')
    .set(change)
    .where('workspaceId', '=', workspaceId)
    .where('accountId', '=', accountId)
    .where('run', '=', run)
    .where('state', '<>', 'waiting')
    .returning('run')
    .executeTakeFirst()
  return row !== undefined
}

/** Returns the digests of instances that died before they handed them over. */
export async function releaseAbandoned(db: Db, now: Date): Promise<void> {
  await sql`update digest_subscription set state = 'waiting', claimed_until = null
    where state = 'sending' and claimed_until < ${now}`.execute(db)
}

/** Digests of instances that died when the relay might have had them. */
export async function listUncertain(db: Db, now: Date): Promise<ClaimedDigest[]> {
  const rows = await db
    .selectFrom('digestSubscription')
    .select([...COLUMNS, 'run', 'attempts'])
    .where('state', '=', 'handed-over')
    .where('claimedUntil', '<', now)
    .limit(1_000)
    .execute()
  return rows as ClaimedDigest[]
}
