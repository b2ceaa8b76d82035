import { sql } from 'kysely'
import { createOutbox } from '../jobs/outbox.ts'
import type { Db } from '../store/database.ts'
import { findRow, type Row } from '../store/row.ts'
import { dueInTurn, isFree, type DueRows } from '../store/due-rows.ts'
import { LEASE_SECONDS } from './limits.ts'

export const FREQUENCIES = ['off', 'daily', 'weekly'] as const
type Frequency = (typeof FREQUENCIES)[number]

type Outcome = 'sent' | 'failed' | 'uncertain' | 'skipped'

/** A member of a workspace. */
export type Member = { workspaceId: string; accountId: string }

export type Settings = { frequency: Frequency; weekday: number; hour: number; timeZone: string }

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

export type SubscriptionRow = Row<
  'digestSubscription',
  typeof COLUMNS,
  { frequency: Frequency; outcome: Outcome | null }
>

/** A digest that is being sent; `run` identifies this attempt. */
export type ClaimedDigest = SubscriptionRow & { dueAt: Date; run: number; attempts: number }

const CLAIMED = [...COLUMNS, 'run', 'attempts'] as const

export async function findSubscription(
  db: Db,
  { workspaceId, accountId }: Member,
): Promise<SubscriptionRow | undefined> {
  return findRow(db, 'digestSubscription', COLUMNS, { workspaceId, accountId })
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

/** Digests whose attempt is due, by the clock of the service. */
export const DUE_DIGESTS = {
  table: 'digest_subscription',
  key: 'account_id',
  dueAt: 'attempt_at',
  claimedUntil: 'claimed_until',
  leaseSeconds: LEASE_SECONDS,
  claims: 'run',
  where: sql`r.state = 'waiting'`,
} satisfies DueRows

/** Due digests, one of each account in turn. */
export async function listDueDigests(db: Db, now: Date, limit: number): Promise<Member[]> {
  const member = ['workspace_id', 'account_id']
  return (await dueInTurn<Member>(DUE_DIGESTS, { now, limit }, member).execute(db)).rows
}

const OUTBOX = createOutbox(DUE_DIGESTS, {
  key: ['workspaceId', 'accountId'],
  reason: 'error',
  endedAt: null,
})
/** An attempt no longer has its digest where the member unsubscribed, left or changed it. */
export const { handOver: handOverDigest, putBack: putBackDigest } = OUTBOX

/** Claims a due digest; undefined when it is not due, or another instance has it. */
export async function claimDigest(
  db: Db,
  { workspaceId, accountId }: Member,
  now: Date,
  leaseSeconds: number,
): Promise<ClaimedDigest | undefined> {
  const isDue = sql`r.workspace_id = ${workspaceId} and r.account_id = ${accountId}
    and r.state = 'waiting' and r.attempt_at <= ${now}`
  const claim = OUTBOX.claim<ClaimedDigest>(isDue, CLAIMED, { now, leaseSeconds })
  return (await claim.execute(db)).rows[0]
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
  const covered = coveredUntil && { coveredUntil }
  const next = { ...end, ...covered, ...timing, attempts: 0, claimedUntil: null }
  return OUTBOX.end(db, [digest], 'waiting', next)
}

/** Returns the digests of instances that died before they handed them over. */
export function releaseAbandoned(db: Db, now: Date): Promise<void> {
  return OUTBOX.recover(db, { which: sql`r.state = 'sending'`, now })
}

/** Digests of instances that died when the relay might have had them. */
export async function listUncertain(db: Db, now: Date): Promise<ClaimedDigest[]> {
  const rows = await db
    .selectFrom('digestSubscription as r')
    .select(CLAIMED)
    .where('state', '=', 'handed-over')
    .where(isFree(DUE_DIGESTS, now))
    .limit(1_000)
    .execute()
  return rows as ClaimedDigest[]
}
