import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { claimDueRows, dueInTurn, type DueRows } from '../../store/due-rows.ts'
import { CHECK_LEASE_SECONDS } from '../limits.ts'
import type { DomainReport, LineState, StageState } from '../shapes.ts'
import type { KnownStates } from './states.ts'
import {
  deleteRows,
  findRow,
  lockAndCountRows,
  lockRow,
  type Row,
  updateRows,
} from '../../store/row.ts'

/** The last known records of one name and type, and a change that was seen once. */
type KnownRecord = { values: string[]; suspect: string[] | null }
/** By `name type`. */
export type KnownRecords = Record<string, KnownRecord>

const WATCHED = [
  'id',
  'workspaceId',
  'domain',
  'hosts',
  'records',
  'recordsAt',
  'state',
  'sentence',
  'stages',
  'checkedAt',
  'states',
  'checkDueAt',
  'labels',
  'createdAt',
] as const

export type WatchedDomainRow = Row<
  'watchedDomain',
  typeof WATCHED,
  {
    records: KnownRecords
    state: LineState | null
    stages: StageState[] | null
    states: KnownStates
  }
>

/** Inserts a watched domain, or updates the mail servers of one that is there. */
export async function saveWatched(
  db: Db,
  watched: Pick<WatchedDomainRow, 'workspaceId' | 'domain' | 'hosts'>,
): Promise<WatchedDomainRow> {
  const row = await db
    .insertInto('watchedDomain')
    .values(watched)
    .onConflict((conflict) =>
      conflict.columns(['workspaceId', 'domain']).doUpdateSet({ hosts: watched.hosts }),
    )
    .returning(WATCHED)
    .executeTakeFirstOrThrow()
  return row as unknown as WatchedDomainRow
}

/**
 * Inserts domains whose hosts are not known yet, in one statement.
 * @returns those that the workspace did not watch
 */
export async function insertWatchedDomains(
  db: Db,
  workspaceId: string,
  domains: string[],
): Promise<{ id: string; domain: string }[]> {
  if (domains.length === 0) return []
  return db
    .insertInto('watchedDomain')
    .values(domains.map((domain) => ({ workspaceId, domain, hosts: [] })))
    .onConflict((conflict) => conflict.columns(['workspaceId', 'domain']).doNothing())
    .returning(['id', 'domain'])
    .execute()
}

/** Domains whose hosts are not known yet, without the tried ones, one of each account in turn. */
export async function listIncomplete(
  db: Db,
  tried: string[],
  limit: number,
): Promise<WatchedDomainRow[]> {
  const isDue = sql`r.hosts = '{}' and r.id <> all(${tried})`
  const incomplete = { table: 'watched_domain', dueAt: 'id' }
  return (await dueInTurn<WatchedDomainRow>(incomplete, { isDue, limit }, WATCHED).execute(db)).rows
}

/** Counts the watched domains of a workspace, which is locked until the transaction ends. */
export async function countWatched(db: Db, workspaceId: string): Promise<number> {
  return lockAndCountRows(db, 'watchedDomain', workspaceId)
}

/** Columns by which a list is arranged. The stages, most of a row, are read for its page alone. */
const LISTED = ['domain', 'hosts', 'state', 'sentence', 'checkedAt', 'labels'] as const
export type ListedDomainRow = Pick<WatchedDomainRow, (typeof LISTED)[number]>

/** Lists the watched domains of a workspace, oldest first. */
export async function listWatched(db: Db, workspaceId: string): Promise<ListedDomainRow[]> {
  const rows = db.selectFrom('watchedDomain').select(LISTED).where('workspaceId', '=', workspaceId)
  return (await rows.orderBy('id').execute()) as ListedDomainRow[]
}

/** The stages of watched domains, by domain. */
export async function findStages(
  db: Db,
  workspaceId: string,
  domains: string[],
): Promise<Map<string, StageState[] | null>> {
  const rows = await db
    .selectFrom('watchedDomain')
    .select(['domain', 'stages'])
    .where('workspaceId', '=', workspaceId)
    .where('domain', 'in', domains)
    .execute()
  return new Map(rows.map(({ domain, stages }) => [domain, stages as StageState[] | null]))
}

export async function findWatched(
  db: Db,
  workspaceId: string,
  domain: string,
): Promise<WatchedDomainRow | undefined> {
  return findRow(db, 'watchedDomain', WATCHED, { workspaceId, domain })
}

/** @returns false where the workspace does not watch the domain */
export async function updateLabels(
  db: Db,
  { workspaceId, domain, labels }: Pick<WatchedDomainRow, 'workspaceId' | 'domain' | 'labels'>,
): Promise<boolean> {
  return updateRows(db, 'watchedDomain', { workspaceId, domain }, { labels })
}

export async function deleteWatched(db: Db, workspaceId: string, domain: string): Promise<boolean> {
  return deleteRows(db, 'watchedDomain', { workspaceId, domain })
}

/** Finds a watched domain and locks it until the transaction ends. */
export async function lockWatched(
  db: Db,
  workspaceId: string,
  domain: string,
): Promise<WatchedDomainRow | undefined> {
  return lockRow(db, 'watchedDomain', WATCHED, { workspaceId, domain })
}

type SavedCheck = {
  state: LineState
  sentence: string
  stages: StageState[]
  checkedAt: Date
  states: KnownStates
  report: DomainReport | null
  checkDueAt: Date
}

/** Saves a whole check and releases the domain. */
export async function saveCheck(
  db: Db,
  id: string,
  { stages, states, report, ...values }: SavedCheck,
): Promise<void> {
  await db
    .updateTable('watchedDomain')
    .set({
      ...values,
      stages: JSON.stringify(stages),
      states: JSON.stringify(states),
      report: report && JSON.stringify(report),
      checkClaimedUntil: null,
    })
    .where('id', '=', id)
    .execute()
}

/** Saves why a domain could not be checked at all, if it is watched. @returns whether it is */
export async function saveFailure(
  db: Db,
  workspaceId: string,
  { domain, sentence }: { domain: string; sentence: string },
): Promise<boolean> {
  return updateRows(
    db,
    'watchedDomain',
    { workspaceId, domain },
    { state: 'bad', sentence, stages: null, checkedAt: new Date() },
  )
}

/** Moves the next whole check of a domain, and releases it. */
export async function postponeCheck(db: Db, id: string, checkDueAt: Date): Promise<void> {
  await updateRows(db, 'watchedDomain', { id }, { checkDueAt, checkClaimedUntil: null })
}

/** Domains whose whole check is due. */
export const DUE_CHECKS: DueRows = {
  table: 'watched_domain',
  dueAt: 'check_due_at',
  claimedUntil: 'check_claimed_until',
  leaseSeconds: CHECK_LEASE_SECONDS,
}

/** Claims domains whose whole check is due, one of each account in turn. */
export async function claimDueChecks(
  db: Db,
  limit: number,
  leaseSeconds: number,
): Promise<WatchedDomainRow[]> {
  const claim = claimDueRows<WatchedDomainRow>(DUE_CHECKS, { limit, leaseSeconds }, WATCHED)
  return (await claim.execute(db)).rows
}

/** The stored picture of a watched domain; null before its first check. */
export async function findStoredReport(
  db: Db,
  workspaceId: string,
  domain: string,
): Promise<DomainReport | null> {
  const row = await findRow(db, 'watchedDomain', ['report'], { workspaceId, domain })
  return (row?.report ?? null) as DomainReport | null
}

/** Domains whose records were not checked since then, one of each account in turn. */
export async function listDue(db: Db, since: Date, limit: number): Promise<WatchedDomainRow[]> {
  const isDue = sql`(r.records_at is null or r.records_at < ${since})`
  const due = { table: 'watched_domain', dueAt: 'recordsAt' }
  return (await dueInTurn<WatchedDomainRow>(due, { isDue, limit }, WATCHED).execute(db)).rows
}

export async function saveRecords(
  db: Db,
  id: string,
  records: KnownRecords,
  recordsAt: Date,
): Promise<void> {
  await updateRows(db, 'watchedDomain', { id }, { records: JSON.stringify(records), recordsAt })
}

/** A change of a record, or of a state. */
export type DomainEventRow = {
  at: Date
  name: string
  /** A record type, `verdict` or `line`. */
  type: string
  before: string[]
  after: string[]
  /** The sentence of a new state; null for records. */
  detail?: string | null
}

/** Inserts changes of a domain, and deletes its oldest ones beyond the limit. */
export async function insertDomainEvents(
  db: Db,
  domainId: string,
  events: DomainEventRow[],
  limit: number,
): Promise<void> {
  if (events.length === 0) return
  await db
    .insertInto('domainEvent')
    .values(events.map((event) => ({ domainId, ...event })))
    .execute()
  await sql`
    delete from domain_event where domain_id = ${domainId} and id <= (
      select id from domain_event where domain_id = ${domainId} order by id desc offset ${limit} limit 1)`.execute(
    db,
  )
}

/** Lists the changes of a domain since then, newest first. */
export async function listDomainEvents(
  db: Db,
  domainId: string,
  since: Date,
  limit: number,
): Promise<DomainEventRow[]> {
  return db
    .selectFrom('domainEvent')
    .select(['at', 'name', 'type', 'before', 'after', 'detail'])
    .where('domainId', '=', domainId)
    .where('at', '>=', since)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
}
