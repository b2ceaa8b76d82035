import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { Row } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'
import type { MonitoredKind } from '../facts/host-facts.sql.ts'

const EVENT = [
  'at',
  'kind',
  'name',
  'dnsbl',
  'ip',
  'fromState',
  'toState',
  'codes',
  'reason',
  'baseline',
] as const

export type EventRow = Row<'monitoredEvent', typeof EVENT, { kind: MonitoredKind }>

export async function insertEvents(db: Db, hostId: string, events: EventRow[]): Promise<void> {
  if (events.length === 0) return
  await db
    .insertInto('monitoredEvent')
    .values(events.map((event) => ({ hostId, ...event })))
    .execute()
}

export type EventFilter = {
  kind?: MonitoredKind | undefined
  /** Both inclusive. */
  from?: Date | undefined
  to?: Date | undefined
}

export async function countEvents(db: Db, hostId: string, filter: EventFilter): Promise<number> {
  const { count } = await eventsOf(db, hostId, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Lists the changes of a host, newest first. */
export async function listEvents(
  db: Db,
  hostId: string,
  filter: EventFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<EventRow[]> {
  const rows = await eventsOf(db, hostId, filter)
    .select(EVENT)
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return rows as EventRow[]
}

/** Lists the changes of several hosts since then, without those of first checks, newest first. */
export async function listEventsOfHosts(
  db: Db,
  hostIds: string[],
  since: Date,
  limit: number,
): Promise<(EventRow & { hostId: string })[]> {
  if (hostIds.length === 0) return []
  const rows = await db
    .selectFrom('monitoredEvent')
    .select(['hostId', ...EVENT])
    .where('hostId', 'in', hostIds)
    .where('at', '>=', since)
    .where('baseline', '=', false)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows as (EventRow & { hostId: string })[]
}

function eventsOf(db: Db, hostId: string, { kind, from, to }: EventFilter) {
  let all = db.selectFrom('monitoredEvent').where('hostId', '=', hostId)
  if (kind !== undefined) all = all.where('kind', '=', kind)
  if (from) all = all.where('at', '>=', from)
  if (to) all = all.where('at', '<=', to)
  return all
}

/** Counts the changes of one name since then, without those of the first check. */
export async function countChanges(
  db: Db,
  hostId: string,
  name: string,
  since: Date,
): Promise<number> {
  const { count } = await db
    .selectFrom('monitoredEvent')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('hostId', '=', hostId)
    .where('name', '=', name)
    .where('at', '>=', since)
    .where('baseline', '=', false)
    .executeTakeFirstOrThrow()
  return count
}

export type Period = 'clean' | 'listed' | 'unknown'

export type PeriodRow = { state: Period; from: Date; to: Date }

/** Starts a period unless the host’s latest one has the same state. */
export async function beginPeriod(
  db: Transaction<DB>,
  hostId: string,
  state: Period,
  at: Date,
): Promise<void> {
  await sql`
    insert into monitored_period (host_id, began_at, state)
    select ${hostId}, ${at}, ${state}
    where ${state} is distinct from (
      select state from monitored_period where host_id = ${hostId} order by began_at desc limit 1)
    on conflict do nothing`.execute(db)
}

/** What the summary of a host is computed from, empty where nothing is known. */
export type LastDays = {
  /**
   * Its states since at least `AVAILABILITY_DAYS` ago, with the seconds since 1970 at which they
   * began, oldest first, as the items of a JSON array:
   * `["clean",1795000000.123456],["listed",1795000060]`.
   */
  states: string
  /**
   * Of its certificates with a problem, or else of all, the one that expires first: `0
   * 2030-01-31T00:00:00.000Z expiring`.
   */
  certificate: string
}

/**
 * SQL for the columns of `LastDays` of a `monitored_host h`. Triggers keep them in its row, because a
 * workspace may have tens of thousands of periods and certificates.
 */
export const LAST_DAYS = sql`coalesce(h.recent_states, monitored_recent_states(h.id)) as states,
  coalesce(h.first_certificate, monitored_first_certificate(h.id)) as certificate`

export async function readLastDays(db: Db, hostId: string): Promise<LastDays | undefined> {
  const { rows } = await sql<LastDays>`
    select ${LAST_DAYS} from monitored_host h where id = ${hostId}`.execute(db)
  return rows[0]
}

/** Lists the periods of a host since then, oldest first; the current one ends now. */
export async function listPeriods(db: Db, hostId: string, since: Date): Promise<PeriodRow[]> {
  const { rows } = await sql<PeriodRow>`
    select state, greatest(began_at, ${since}) as "from", ended_at as "to"
    from (
      select state, began_at, coalesce(lead(began_at) over (order by began_at), now()) as ended_at
      from monitored_period where host_id = ${hostId}) as period
    where ended_at > ${since}
    order by began_at`.execute(db)
  return rows
}

/**
 * Lists the newest periods of each host since then, in order; the current one ends now.
 * @param limit per host
 */
export async function listPeriodsOfHosts(
  db: Db,
  hostIds: string[],
  since: Date,
  limit: number,
): Promise<(PeriodRow & { hostId: string })[]> {
  const { rows } = await sql<PeriodRow & { hostId: string }>`
    select given.id as host_id, period.state, greatest(period.began_at, ${since}) as "from", period.ended_at as "to"
    from unnest(${hostIds}::uuid[]) as given (id)
    cross join lateral (
      select state, began_at, coalesce(lead(began_at) over (order by began_at), now()) as ended_at
      from (select state, began_at from monitored_period
        where host_id = given.id and began_at >= coalesce(
          (select max(began_at) from monitored_period where host_id = given.id and began_at <= ${since}), ${since})
        order by began_at desc limit ${limit}) as newest) as period
    where period.ended_at > ${since}
    order by given.id, period.began_at`.execute(db)
  return rows
}

/** Lists the newest changes of a host since then, oldest first. */
export async function listEventsSince(
  db: Db,
  hostId: string,
  since: Date,
  limit: number,
): Promise<EventRow[]> {
  const newest = await listEvents(db, hostId, { from: since }, { limit, offset: 0 })
  return newest.toReversed()
}
