import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import type { Kind } from '../facts/store.ts'

export type EventRow = {
  at: Date
  kind: Kind
  name: string
  dnsbl: string | null
  ip: string | null
  fromState: string
  toState: string
  codes: string[]
  reason: string | null
  baseline: boolean
}

export async function insertEvents(db: Db, hostId: string, events: EventRow[]): Promise<void> {
  if (events.length === 0) return
  await db
    .insertInto('monitoredEvent')
    .values(events.map((event) => ({ hostId, ...event })))
    .execute()
}

export type EventFilter = { kind?: Kind | undefined }

export async function countEvents(db: Db, hostId: string, filter: EventFilter): Promise<number> {
  const { count } = await eventsOf(db, hostId, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Newest first. */
export async function listEvents(
  db: Db,
  hostId: string,
  filter: EventFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<EventRow[]> {
  const rows = await eventsOf(db, hostId, filter)
    .select(['at', 'kind', 'name', 'dnsbl', 'ip', 'fromState', 'toState', 'codes', 'reason', 'baseline'])
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return rows as EventRow[]
}

function eventsOf(db: Db, hostId: string, { kind }: EventFilter) {
  const all = db.selectFrom('monitoredEvent').where('hostId', '=', hostId)
  return kind === undefined ? all : all.where('kind', '=', kind)
}

/** How often something of this name changed since then. */
export async function countChanges(db: Db, hostId: string, name: string, since: Date): Promise<number> {
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

export async function deleteEventsBefore(db: Db, before: Date): Promise<number> {
  const { numDeletedRows } = await db.deleteFrom('monitoredEvent').where('at', '<', before).executeTakeFirst()
  return Number(numDeletedRows)
}

export type Period = 'clean' | 'listed' | 'unknown'

export type PeriodRow = { state: Period; from: Date; to: Date }

/** Begins a period unless the host is in one of this state. */
export async function beginPeriod(db: Transaction<DB>, hostId: string, state: Period, at: Date): Promise<void> {
  await sql`
    insert into monitored_period (host_id, began_at, state)
    select ${hostId}, ${at}, ${state}
    where ${state} is distinct from (
      select state from monitored_period where host_id = ${hostId} order by began_at desc limit 1)
    on conflict do nothing`.execute(db)
}

/** Seconds that each of these hosts was in each state since then. */
export async function sumPeriods(db: Db, hostIds: string[], since: Date) {
  const { rows } = await sql<{ hostId: string; state: Period; seconds: number }>`
    select host_id, state, sum(extract(epoch from ended_at - greatest(began_at, ${since})))::float8 as seconds
    from (
      select host_id, state, began_at, coalesce(lead(began_at) over (partition by host_id order by began_at), now()) as ended_at
      from monitored_period where host_id = any(${hostIds})) as period
    where ended_at > ${since}
    group by host_id, state`.execute(db)
  return rows
}

/** How a host was since then, in order; what it is now ends now. */
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
