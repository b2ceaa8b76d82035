import { sql, type Insertable } from 'kysely'
import type { Db } from '../../store/database.ts'
import { claimDueRows, type DueRows } from '../../store/due-rows.ts'
import {
  deleteRows,
  findRow,
  insertRow,
  lockAndCountRows,
  type Row,
  updateRows,
} from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'
import { BASELINE_DAYS, CANARY_LEASE_SECONDS } from '../limits.ts'
import type { Baseline, PlacementResult, PlacementState } from './evaluate-placement.ts'
import type { Outcome } from './placement-outcome.ts'
import type { CanaryDay } from './shapes.ts'

const CANARY = [
  'id',
  'workspaceId',
  'sender',
  'domain',
  'host',
  'port',
  'secure',
  'tlsVerify',
  'username',
  'sealed',
  'everyHours',
  'enabled',
  'dueAt',
  'problem',
  'lastRunAt',
  'createdAt',
] as const
export type CanaryRow = Row<'canary', typeof CANARY>

const SEED = [
  'id',
  'canaryId',
  'workspaceId',
  'email',
  'provider',
  'host',
  'port',
  'secure',
  'tlsVerify',
  'username',
  'sealed',
  'credentialId',
  'problem',
  'isBad',
  'isBlind',
  'stateSince',
  'createdAt',
] as const
export type SeedRow = Row<'canarySeed', typeof SEED>

const RESULT = [
  'id',
  'canaryId',
  'seedId',
  'workspaceId',
  'token',
  'sentAt',
  'isSubmitted',
  'outcome',
  'voidReason',
  'folder',
  'delaySeconds',
  'detail',
  'dueAt',
  'checks',
] as const
export type ResultRow = Row<'canaryResult', typeof RESULT, { outcome: Outcome | null }>

/** Canaries whose next mails are due. */
export const DUE_CANARIES: DueRows = {
  table: 'canary',
  dueAt: 'due_at',
  leaseSeconds: CANARY_LEASE_SECONDS,
}

/** Mails that are looked for. */
export const DUE_RESULTS: DueRows = {
  table: 'canary_result',
  dueAt: 'due_at',
  leaseSeconds: CANARY_LEASE_SECONDS,
  claims: 'checks',
}

export async function claimCanaries(db: Db, limit: number): Promise<CanaryRow[]> {
  return (await claimDueRows<CanaryRow>(DUE_CANARIES, { limit }, sql`r.*`).execute(db)).rows
}

export async function claimResults(db: Db, limit: number): Promise<ResultRow[]> {
  return (await claimDueRows<ResultRow>(DUE_RESULTS, { limit }, sql`r.*`).execute(db)).rows
}

/** Counts the canaries of a workspace, and locks it until the transaction ends. */
export async function lockAndCountCanaries(db: Db, workspaceId: string): Promise<number> {
  return lockAndCountRows(db, 'canary', workspaceId)
}

export async function insertCanary(db: Db, canary: Insertable<DB['canary']>): Promise<CanaryRow> {
  return insertRow(db, 'canary', canary, CANARY)
}

/** Oldest first; of a domain, or all. */
export async function listCanaries(
  db: Db,
  workspaceId: string,
  domain?: string,
): Promise<CanaryRow[]> {
  const rows = db.selectFrom('canary').select(CANARY).where('workspaceId', '=', workspaceId)
  return (domain === undefined ? rows : rows.where('domain', '=', domain)).orderBy('id').execute()
}

export async function findCanary(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<CanaryRow | undefined> {
  return findRow(db, 'canary', CANARY, { workspaceId, id })
}

/** Turns a canary on or off, or changes its interval. One that is on is due at once. */
export async function updateCanary(
  db: Db,
  workspaceId: string,
  id: string,
  changes: { enabled?: boolean; everyHours?: number },
): Promise<CanaryRow | undefined> {
  const due = sql<Date | null>`case when ${changes.enabled ?? sql`enabled`} then now() end`
  return db
    .updateTable('canary')
    .set({ ...changes, dueAt: due })
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .returning(CANARY)
    .executeTakeFirst()
}

/** Records a run; the next one is due after some seconds, unless the canary was turned off. */
export async function finishRun(
  db: Db,
  id: string,
  { problem, afterSeconds }: { problem: string | null; afterSeconds: number },
): Promise<void> {
  await sql`
    update canary set problem = ${problem}, last_run_at = now(),
      due_at = case when enabled then now() + make_interval(secs => ${afterSeconds}) end
    where id = ${id}`.execute(db)
}

export async function deleteCanary(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'canary', { workspaceId, id })
}

/** @returns undefined when the canary has this mailbox already */
export async function insertSeed(
  db: Db,
  seed: Insertable<DB['canarySeed']>,
): Promise<SeedRow | undefined> {
  return db
    .insertInto('canarySeed')
    .values(seed)
    .onConflict((conflict) => conflict.columns(['canaryId', 'email']).doNothing())
    .returning(SEED)
    .executeTakeFirst()
}

/** The seeds of canaries, oldest first. */
export async function listSeeds(db: Db, canaryIds: readonly string[]): Promise<SeedRow[]> {
  if (canaryIds.length === 0) return []
  return db
    .selectFrom('canarySeed')
    .select(SEED)
    .where('canaryId', 'in', canaryIds)
    .orderBy('id')
    .execute()
}

export async function findSeed(db: Db, id: string): Promise<SeedRow | undefined> {
  return findRow(db, 'canarySeed', SEED, { id })
}

export async function deleteSeed(db: Db, canaryId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'canarySeed', { canaryId, id })
}

/** Those of the credentials whose permission has ended, or was rejected. */
export async function listEndedCredentials(db: Db, ids: readonly string[]): Promise<string[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('mailCredential')
    .select('id')
    .where('id', 'in', ids)
    .where('problem', 'is not', null)
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Forgets why the mailboxes of a credential could not be read, once it is renewed.
 * @returns the canaries of these mailboxes
 */
export async function clearSeedProblems(
  db: Db,
  workspaceId: string,
  credentialId: string,
): Promise<string[]> {
  const rows = await db
    .updateTable('canarySeed')
    .set({ problem: null })
    .where('workspaceId', '=', workspaceId)
    .where('credentialId', '=', credentialId)
    .returning('canaryId')
    .execute()
  return [...new Set(rows.map(({ canaryId }) => canaryId))]
}

/** Records why a mailbox could not be read, or that it was. */
export async function saveSeedProblem(db: Db, id: string, problem: string | null): Promise<void> {
  await db
    .updateTable('canarySeed')
    .set({ problem })
    .where('id', '=', id)
    .where(sql<boolean>`problem is distinct from ${problem}`)
    .execute()
}

export async function saveSeedState(db: Db, id: string, state: PlacementState): Promise<Date> {
  const row = await db
    .updateTable('canarySeed')
    .set({ ...state, stateSince: sql<Date>`now()` })
    .where('id', '=', id)
    .returning('stateSince')
    .executeTakeFirstOrThrow()
  return row.stateSince
}

/** Stores a mail before it is submitted: after a crash, its outcome is unknown. */
export async function insertResult(
  db: Db,
  result: Pick<ResultRow, 'id' | 'canaryId' | 'seedId' | 'workspaceId' | 'token'>,
): Promise<ResultRow> {
  const row = await db
    .insertInto('canaryResult')
    .values({
      ...result,
      dueAt: sql<Date>`now() + make_interval(secs => ${CANARY_LEASE_SECONDS})`,
    })
    .returning(RESULT)
    .executeTakeFirstOrThrow()
  return row as ResultRow
}

/** Records the submission of a mail, which is looked for after some seconds. */
export async function markSubmitted(db: Db, id: string, afterSeconds: number): Promise<void> {
  await db
    .updateTable('canaryResult')
    .set({
      sentAt: sql<Date>`now()`,
      isSubmitted: true,
      dueAt: sql<Date>`now() + make_interval(secs => ${afterSeconds})`,
    })
    .where('id', '=', id)
    .execute()
}

/** Looks for a mail again at a time. */
export async function postponeResult(db: Db, id: string, dueAt: Date): Promise<void> {
  await updateRows(db, 'canaryResult', { id }, { dueAt })
}

export type Finished = {
  outcome: Outcome
  voidReason?: string | null
  folder?: string | null
  delaySeconds?: number | null
  detail?: string | null
}

/** @returns false for a result that was finished meanwhile */
export async function finishResult(
  db: Db,
  id: string,
  { isBaseline, ...finished }: Finished & { isBaseline: boolean },
): Promise<boolean> {
  return updateRows(
    db,
    'canaryResult',
    { id, outcome: null },
    { ...finished, isBaseline, dueAt: null },
  )
}

/** The last finished results of a seed, the newest last. */
export async function listLastResults(
  db: Db,
  seedId: string,
  limit: number,
): Promise<PlacementResult[]> {
  const { rows } = await sql<PlacementResult>`
    select outcome, void_reason is not null as is_void from canary_result
    where seed_id = ${seedId} and outcome is not null
    order by sent_at desc, id desc limit ${limit}`.execute(db)
  return rows.toReversed()
}

/** Results in times without a problem, besides the last three of each seed, which decide. */
export async function sumBaseline(db: Db, canaryId: string): Promise<Baseline> {
  const { rows } = await sql<Baseline>`
    select count(*) filter (where outcome in ('junk', 'late', 'missing', 'refused'))::int as bad,
      count(*)::int as total
    from (select outcome, row_number() over (partition by seed_id order by sent_at desc) as place
      from canary_result
      where canary_id = ${canaryId} and is_baseline
        and sent_at > now() - make_interval(days => ${BASELINE_DAYS})) as r
    where place > 3`.execute(db)
  return rows[0] ?? { bad: 0, total: 0 }
}

/** The last mails of a canary, the newest first. */
export async function listResults(
  db: Db,
  canaryId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ rows: ResultRow[]; total: number }> {
  const { rows } = await sql<ResultRow & { total: number }>`
    select r.*, count(*) over () as total from canary_result r where r.canary_id = ${canaryId}
    order by r.sent_at desc, r.id desc limit ${limit} offset ${offset}`.execute(db)
  return { rows, total: rows[0]?.total ?? 0 }
}

/** The latest mail to each seed of canaries. */
export async function listLatestResults(
  db: Db,
  canaryIds: readonly string[],
): Promise<ResultRow[]> {
  if (canaryIds.length === 0) return []
  const { rows } = await sql<ResultRow>`
    select latest.* from canary_seed s cross join lateral (
      select r.* from canary_result r where r.seed_id = s.id
      order by r.sent_at desc, r.id desc limit 1) latest
    where s.canary_id = any(${canaryIds}::uuid[])`.execute(db)
  return rows
}

/** Outcomes per provider and day (UTC), in order; days without a mail are missing. */
export async function countByDay(db: Db, canaryId: string, days: number): Promise<CanaryDay[]> {
  const { rows } = await sql<CanaryDay>`
    select (r.sent_at at time zone 'utc')::date as day, s.provider, r.outcome,
      count(*)::int as count, count(r.void_reason)::int as voids
    from canary_result r join canary_seed s on s.id = r.seed_id
    where r.canary_id = ${canaryId} and r.outcome is not null
      and r.sent_at >= ((now() at time zone 'utc')::date - ${days - 1}::int)::timestamp at time zone 'utc'
    group by day, s.provider, r.outcome
    order by day, s.provider, r.outcome`.execute(db)
  return rows
}
