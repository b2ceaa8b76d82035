import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { LineState, StageState } from '../shapes.ts'

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

/** Those of the names that the workspace watches. */
export async function listKnownWatched(
  db: Db,
  workspaceId: string,
  names: string[],
): Promise<string[]> {
  if (names.length === 0) return []
  const rows = await db
    .selectFrom('watchedDomain')
    .select('domain')
    .where('workspaceId', '=', workspaceId)
    .where('domain', 'in', names)
    .execute()
  return rows.map(({ domain }) => domain)
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
    select id, workspace_id, domain, hosts, records, records_at, state, sentence, checked_at, created_at
    from (
      select *, row_number() over (partition by workspace_id order by id) as turn
      from watched_domain where hosts = '{}' and id <> all(${tried})) as incomplete
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

/** Lists the watched domains of a workspace, oldest first. */
export async function listWatched(db: Db, workspaceId: string): Promise<WatchedDomainRow[]> {
  const rows = db.selectFrom('watchedDomain').select(WATCHED).where('workspaceId', '=', workspaceId)
  return (await rows.orderBy('id').execute()) as unknown as WatchedDomainRow[]
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

export async function deleteWatched(db: Db, workspaceId: string, domain: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('watchedDomain')
    .where('workspaceId', '=', workspaceId)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

/** Stores the verdict of a whole check, if the domain is watched. @returns whether it is */
export async function saveVerdict(
  db: Db,
  workspaceId: string,
  verdict: {
    domain: string
    state: LineState
    sentence: string
    stages: StageState[]
    checkedAt: Date
  },
): Promise<boolean> {
  const { domain, stages, ...values } = verdict
  const { numUpdatedRows } = await db
    .updateTable('watchedDomain')
    .set({ ...values, stages: JSON.stringify(stages) })
    .where('workspaceId', '=', workspaceId)
    .where('domain', '=', domain)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Domains whose records were not checked since then, one of each workspace in turn. */
export async function listDue(db: Db, since: Date, limit: number): Promise<WatchedDomainRow[]> {
  const { rows } = await sql<WatchedDomainRow>`
    select id, workspace_id, domain, hosts, records, records_at, state, sentence, stages, checked_at, created_at
    from (
      select *, row_number() over (partition by workspace_id order by records_at nulls first, id) as turn
      from watched_domain where records_at is null or records_at < ${since}) as due
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

export type DomainEventRow = {
  at: Date
  name: string
  type: string
  before: string[]
  after: string[]
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
    .select(['at', 'name', 'type', 'before', 'after'])
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
