import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import type { DomainReport, LineState, StageState } from '../shapes.ts'
import type { KnownStates } from './states.ts'

/** The last known records of one name and type, and a change that was seen once. */
export type KnownRecord = { values: string[]; suspect: string[] | null }
/** By `name type`. */
export type KnownRecords = Record<string, KnownRecord>

export type WatchedDomainRow = {
  id: string
  workspaceId: string
  domain: string
  hosts: string[]
  records: KnownRecords
  recordsAt: Date | null
  state: LineState | null
  sentence: string | null
  stages: StageState[] | null
  checkedAt: Date | null
  states: KnownStates
  checkDueAt: Date
  labels: string[]
  createdAt: Date
}

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

/** Domains whose hosts are not known yet, without the tried ones, one of each workspace in turn. */
export async function listIncomplete(
  db: Db,
  tried: string[],
  limit: number,
): Promise<WatchedDomainRow[]> {
  const { rows } = await sql<WatchedDomainRow>`
    select id, workspace_id, domain, hosts, records, records_at, state, sentence, stages, checked_at, states, check_due_at, labels, created_at
    from (
      select *, row_number() over (partition by workspace_id order by id) as turn
      from watched_domain where hosts = '{}' and id <> all(${tried})
        and not ${isInDeletedWorkspace('workspace_id')}) as incomplete
    order by turn, id limit ${limit}`.execute(db)
  return rows
}

/** Counts the watched domains of a workspace, which is locked until the transaction ends. */
export async function countWatched(db: Db, workspaceId: string): Promise<number> {
  await db.selectFrom('workspace').select('id').where('id', '=', workspaceId).forUpdate().execute()
  const { count } = await db
    .selectFrom('watchedDomain')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('workspaceId', '=', workspaceId)
    .executeTakeFirstOrThrow()
  return count
}

/** Columns that a list shows, without the records and states of a check. */
const LISTED = ['domain', 'hosts', 'state', 'sentence', 'stages', 'checkedAt', 'labels'] as const
export type ListedDomainRow = Pick<WatchedDomainRow, (typeof LISTED)[number]>

/** Lists the watched domains of a workspace, oldest first. */
export async function listWatched(db: Db, workspaceId: string): Promise<ListedDomainRow[]> {
  const rows = db.selectFrom('watchedDomain').select(LISTED).where('workspaceId', '=', workspaceId)
  return (await rows.orderBy('id').execute()) as ListedDomainRow[]
}

export async function findWatched(
  db: Db,
  workspaceId: string,
  domain: string,
): Promise<WatchedDomainRow | undefined> {
  const row = await db
    .selectFrom('watchedDomain')
    .select(WATCHED)
    .where('workspaceId', '=', workspaceId)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return row as unknown as WatchedDomainRow | undefined
}

/** @returns false where the workspace does not watch the domain */
export async function updateLabels(
  db: Db,
  { workspaceId, domain, labels }: Pick<WatchedDomainRow, 'workspaceId' | 'domain' | 'labels'>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('watchedDomain')
    .set({ labels })
    .where('workspaceId', '=', workspaceId)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

export async function deleteWatched(db: Db, workspaceId: string, domain: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('watchedDomain')
    .where('workspaceId', '=', workspaceId)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Finds a watched domain and locks it until the transaction ends. */
export async function lockWatched(
  db: Db,
  workspaceId: string,
  domain: string,
): Promise<WatchedDomainRow | undefined> {
  const row = await db
    .selectFrom('watchedDomain')
    .select(WATCHED)
    .where('workspaceId', '=', workspaceId)
    .where('domain', '=', domain)
    .forUpdate()
    .executeTakeFirst()
  return row as unknown as WatchedDomainRow | undefined
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
  const { numUpdatedRows } = await db
    .updateTable('watchedDomain')
    .set({ state: 'bad', sentence, stages: null, checkedAt: new Date() })
    .where('workspaceId', '=', workspaceId)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Moves the next whole check of a domain, and releases it. */
export async function postponeCheck(db: Db, id: string, checkDueAt: Date): Promise<void> {
  await db
    .updateTable('watchedDomain')
    .set({ checkDueAt, checkClaimedUntil: null })
    .where('id', '=', id)
    .execute()
}

/** Claims domains whose whole check is due, one of each workspace in turn. */
export async function claimDueChecks(
  db: Db,
  limit: number,
  leaseSeconds: number,
): Promise<WatchedDomainRow[]> {
  const isFree = sql<boolean>`coalesce(check_claimed_until, '-infinity') < now()`
  const inTurn = sql<string>`(
    select id from (
      select id, check_due_at, row_number() over (partition by workspace_id order by check_due_at) as turn
      from watched_domain
      where check_due_at <= now() and ${isFree} and not ${isInDeletedWorkspace('workspace_id')}) as due
    order by turn, check_due_at limit ${limit})`
  const due = db
    .selectFrom('watchedDomain')
    .select('id')
    .where('id', 'in', inTurn)
    .where('checkDueAt', '<=', sql<Date>`now()`)
    .where(isFree)
    .forUpdate()
    .skipLocked()
  const rows = await db
    .updateTable('watchedDomain')
    .set({ checkClaimedUntil: sql<Date>`now() + ${leaseSeconds} * interval '1 second'` })
    .where('id', 'in', due)
    .returning(WATCHED)
    .execute()
  return rows as unknown as WatchedDomainRow[]
}

/** The stored picture of a watched domain; null before its first check. */
export async function findStoredReport(
  db: Db,
  workspaceId: string,
  domain: string,
): Promise<DomainReport | null> {
  const row = await db
    .selectFrom('watchedDomain')
    .select('report')
    .where('workspaceId', '=', workspaceId)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return (row?.report ?? null) as DomainReport | null
}

/** Domains whose records were not checked since then, one of each workspace in turn. */
export async function listDue(db: Db, since: Date, limit: number): Promise<WatchedDomainRow[]> {
  const { rows } = await sql<WatchedDomainRow>`
    select id, workspace_id, domain, hosts, records, records_at, state, sentence, stages, checked_at, states, check_due_at, labels, created_at
    from (
      select *, row_number() over (partition by workspace_id order by records_at nulls first, id) as turn
      from watched_domain where (records_at is null or records_at < ${since})
        and not ${isInDeletedWorkspace('workspace_id')}) as due
    order by turn, records_at nulls first, id limit ${limit}`.execute(db)
  return rows
}

export async function saveRecords(
  db: Db,
  id: string,
  records: KnownRecords,
  recordsAt: Date,
): Promise<void> {
  await db
    .updateTable('watchedDomain')
    .set({ records: JSON.stringify(records), recordsAt })
    .where('id', '=', id)
    .execute()
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

export async function deleteDomainEventsBefore(db: Db, before: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('domainEvent')
    .where('at', '<', before)
    .executeTakeFirst()
  return Number(numDeletedRows)
}
