import { sql, type Transaction } from 'kysely'
import type { Db } from '../store/database.ts'
import type { DB } from '../store/tables.ts'
import type { Fact } from './judge.ts'
import type { Mode } from './modes.ts'

export const KINDS = ['blacklist', 'certificate', 'dns'] as const
export type Kind = (typeof KINDS)[number]

export type HostStatus = 'pending' | 'clean' | 'listed' | 'unknown'

export type HostRow = {
  id: string
  accountId: string
  host: string
  label: string
  lists: Record<string, Mode>
  tlsPorts: number[]
  dnsRecords: boolean
  status: HostStatus
  listedCount: number
  unknownCount: number
  totalChecked: number
  detail: string | null
  createdAt: Date
  lastCheckAt: Date | null
  graveDueAt: Date
  fullDueAt: Date
  sideDueAt: Date
  recheckAt: Date | null
  run: number
}

const HOST = [
  'id',
  'accountId',
  'host',
  'label',
  'lists',
  'tlsPorts',
  'dnsRecords',
  'status',
  'listedCount',
  'unknownCount',
  'totalChecked',
  'detail',
  'createdAt',
  'lastCheckAt',
  'graveDueAt',
  'fullDueAt',
  'sideDueAt',
  'recheckAt',
  'run',
] as const

export type HostSettings = Partial<Pick<HostRow, 'label' | 'lists' | 'tlsPorts' | 'dnsRecords'>>

/** @returns undefined when the account watches this host already */
export async function insertHost(
  db: Db,
  { accountId, host, lists = {}, ...settings }: HostSettings & { accountId: string; host: string },
): Promise<HostRow | undefined> {
  const row = await db
    .insertInto('monitoredHost')
    .values({ accountId, host, lists: JSON.stringify(lists), ...settings })
    .onConflict((conflict) => conflict.doNothing())
    .returning(HOST)
    .executeTakeFirst()
  return row as HostRow | undefined
}

export async function countHosts(db: Db, accountId: string): Promise<number> {
  const { count } = await db
    .selectFrom('monitoredHost')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('accountId', '=', accountId)
    .executeTakeFirstOrThrow()
  return count
}

/** Oldest first. */
export async function listHosts(db: Db, accountId: string): Promise<HostRow[]> {
  const rows = await db
    .selectFrom('monitoredHost')
    .select(HOST)
    .where('accountId', '=', accountId)
    .orderBy('id')
    .execute()
  return rows as HostRow[]
}

export async function findHost(db: Db, accountId: string, id: string): Promise<HostRow | undefined> {
  const row = await db
    .selectFrom('monitoredHost')
    .select(HOST)
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row as HostRow | undefined
}

/** Sets what is given, and looks at the host anew: what is watched may have changed. */
export async function updateHost(
  db: Db,
  accountId: string,
  id: string,
  { lists, ...settings }: HostSettings,
): Promise<HostRow | undefined> {
  const row = await db
    .updateTable('monitoredHost')
    .set({
      ...settings,
      ...(lists && { lists: JSON.stringify(lists) }),
      fullDueAt: sql<Date>`now()`,
      sideDueAt: sql<Date>`now()`,
    })
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .returning(HOST)
    .executeTakeFirst()
  return row as HostRow | undefined
}

export async function deleteHost(db: Db, accountId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('monitoredHost')
    .where('accountId', '=', accountId)
    .where('id', '=', id)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

export type AddressRow = { hostId: string; ip: string; seen: string[]; unknown: string[]; lastSeenAt: Date }
export type FactRow = Fact & { hostId: string; kind: Kind; subject: string }

/** A host with all that is known of it, in the hands of one look. */
export type ClaimedHost = HostRow & { addresses: AddressRow[]; facts: FactRow[]; choices: Record<string, Mode> }

/** Hosts that are due and with nobody, those that have waited longest first; whoever takes them has them so long. */
export async function claimDue(db: Db, limit: number, leaseSeconds: number): Promise<ClaimedHost[]> {
  const rows = await db
    .updateTable('monitoredHost')
    .set({ run: sql<number>`run + 1`, claimedUntil: sql<Date>`now() + ${leaseSeconds} * interval '1 second'` })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('monitoredHost')
        .select('id')
        .where('dueAt', '<=', sql<Date>`now()`)
        .where(sql<boolean>`coalesce(claimed_until, '-infinity') < now()`)
        .orderBy('dueAt')
        .limit(limit)
        .forUpdate()
        .skipLocked(),
    )
    .returning(HOST)
    .execute()
  return withKnowledge(db, rows as HostRow[])
}

/** One host, due or not; undefined while somebody else has it, or when it is gone. */
export async function claimHost(db: Db, id: string, leaseSeconds: number): Promise<ClaimedHost | undefined> {
  const rows = await db
    .updateTable('monitoredHost')
    .set({ run: sql<number>`run + 1`, claimedUntil: sql<Date>`now() + ${leaseSeconds} * interval '1 second'` })
    .where('id', '=', id)
    .where(sql<boolean>`coalesce(claimed_until, '-infinity') < now()`)
    .returning(HOST)
    .execute()
  return (await withKnowledge(db, rows as HostRow[]))[0]
}

async function withKnowledge(db: Db, hosts: HostRow[]): Promise<ClaimedHost[]> {
  if (hosts.length === 0) return []
  const ids = hosts.map(({ id }) => id)
  const accounts = [...new Set(hosts.map(({ accountId }) => accountId))]
  const [addresses, facts, choices] = await Promise.all([
    listAddresses(db, ids),
    listFacts(db, ids),
    listChoices(db, accounts),
  ])
  const [addressesOf, factsOf] = [Map.groupBy(addresses, byHost), Map.groupBy(facts, byHost)]
  return hosts.map((host) => ({
    ...host,
    addresses: addressesOf.get(host.id) ?? [],
    facts: factsOf.get(host.id) ?? [],
    choices: choices.get(host.accountId) ?? {},
  }))
}

function byHost({ hostId }: { hostId: string }): string {
  return hostId
}

/** Gives a host back as it was. */
export async function releaseHost(db: Db, { id, run }: HostRow): Promise<void> {
  await db
    .updateTable('monitoredHost')
    .set({ claimedUntil: null })
    .where('id', '=', id)
    .where('run', '=', run)
    .execute()
}

export async function listAddresses(db: Db, hostIds: string[]): Promise<AddressRow[]> {
  return db.selectFrom('monitoredAddress').selectAll().where('hostId', 'in', hostIds).orderBy('ip').execute()
}

export async function listFacts(db: Db, hostIds: string[]): Promise<FactRow[]> {
  const rows = await db.selectFrom('monitoredFact').selectAll().where('hostId', 'in', hostIds).execute()
  return rows as FactRow[]
}

/** What these accounts chose for lists, by account. */
export async function listChoices(db: Db, accountIds: string[]): Promise<Map<string, Record<string, Mode>>> {
  const rows = await db.selectFrom('monitoredList').selectAll().where('accountId', 'in', accountIds).execute()
  const grouped = Map.groupBy(rows, ({ accountId }) => accountId)
  return new Map(
    Array.from(grouped, ([id, all]) => [id, Object.fromEntries(all.map(({ zone, mode }) => [zone, mode as Mode]))]),
  )
}

/** Null takes the choice back. */
export async function setChoice(db: Db, accountId: string, zone: string, mode: Mode | null): Promise<void> {
  if (mode === null) {
    await db.deleteFrom('monitoredList').where('accountId', '=', accountId).where('zone', '=', zone).execute()
    return
  }
  await db
    .insertInto('monitoredList')
    .values({ accountId, zone, mode })
    .onConflict((conflict) => conflict.columns(['accountId', 'zone']).doUpdateSet({ mode }))
    .execute()
}

type Outcome = Pick<
  HostRow,
  | 'status'
  | 'listedCount'
  | 'unknownCount'
  | 'totalChecked'
  | 'detail'
  | 'graveDueAt'
  | 'fullDueAt'
  | 'sideDueAt'
  | 'recheckAt'
> & { lastCheckAt: Date }

/** Ends a look at a host; false when it is not this look's any more. */
export async function markLooked(db: Db, { id, run }: HostRow, outcome: Outcome): Promise<boolean> {
  const row = await db
    .updateTable('monitoredHost')
    .set({ ...outcome, claimedUntil: null })
    .where('id', '=', id)
    .where('run', '=', run)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export async function saveAddress(db: Db, row: AddressRow): Promise<void> {
  const { seen, unknown, lastSeenAt } = row
  await db
    .insertInto('monitoredAddress')
    .values(row)
    .onConflict((conflict) => conflict.columns(['hostId', 'ip']).doUpdateSet({ seen, unknown, lastSeenAt }))
    .execute()
}

/** Forgets an address with all that was known of it. */
export async function deleteAddress(db: Db, hostId: string, ip: string): Promise<void> {
  await db.deleteFrom('monitoredAddress').where('hostId', '=', hostId).where('ip', '=', ip).execute()
  await db
    .deleteFrom('monitoredFact')
    .where('hostId', '=', hostId)
    .where('kind', '=', 'blacklist')
    .where(sql<boolean>`starts_with(subject, ${`${ip} `})`)
    .execute()
}

export async function saveFact(db: Db, { detail, ...row }: FactRow): Promise<void> {
  const { state, since, suspect, suspectAt } = row
  const changed = { state, since, suspect, suspectAt, detail: JSON.stringify(detail) }
  await db
    .insertInto('monitoredFact')
    .values({ ...row, detail: JSON.stringify(detail) })
    .onConflict((conflict) => conflict.columns(['hostId', 'kind', 'subject']).doUpdateSet(changed))
    .execute()
}

export async function deleteFact(db: Db, { hostId, kind, subject }: Pick<FactRow, 'hostId' | 'kind' | 'subject'>) {
  await db
    .deleteFrom('monitoredFact')
    .where('hostId', '=', hostId)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .execute()
}

/** Namespace of the locks behind which it is decided whether an account is told of a listing. */
const TELLING_LOCK = 7_402_161

/** Nobody else decides so for this account until the transaction ends: two hosts with one address change together. */
export async function lockTelling(trx: Transaction<DB>, accountId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(${TELLING_LOCK}, hashtext(${accountId}))`.execute(trx)
}

/** Whether another host of the account is known to be listed there: then the account was told already. */
export async function isListedElsewhere(db: Db, host: HostRow, subject: string): Promise<boolean> {
  const row = await db
    .selectFrom('monitoredFact as fact')
    .innerJoin('monitoredHost as host', 'host.id', 'fact.hostId')
    .select('fact.hostId')
    .where('fact.kind', '=', 'blacklist')
    .where('fact.subject', '=', subject)
    .where('fact.state', '=', 'listed')
    .where('host.accountId', '=', host.accountId)
    .where('host.id', '!=', host.id)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export type Watched = { accountId: string; ip: string; since: Date }

/** Hosts with this address that are known to be listed on one of these zones, or were cleared there since then. */
export async function listWatches(
  db: Db,
  { accountId, ip, since }: Watched,
  zones: string[],
): Promise<{ zone: string; lists: Record<string, Mode> }[]> {
  const { rows } = await sql<{ zone: string; lists: Record<string, Mode> }>`
    select zone, host.lists from monitored_host host cross join unnest(${zones}::text[]) as zone
    where host.account_id = ${accountId} and (
      exists (select from monitored_fact fact where fact.host_id = host.id and fact.kind = 'blacklist'
        and fact.subject = ${ip} || ' ' || zone and fact.state = 'listed')
      or exists (select from monitored_event event where event.host_id = host.id and event.kind = 'blacklist'
        and event.ip = ${ip} and event.dnsbl = zone and event.to_state = 'clean' and event.at >= ${since}))`.execute(db)
  return rows
}

/** What the account's hosts are known to be listed on, for one address: `192.0.2.1` by zone. */
export async function listListings(db: Db, accountId: string, ip: string): Promise<FactRow[]> {
  const rows = await db
    .selectFrom('monitoredFact as fact')
    .innerJoin('monitoredHost as host', 'host.id', 'fact.hostId')
    .selectAll('fact')
    .where('host.accountId', '=', accountId)
    .where('fact.kind', '=', 'blacklist')
    .where('fact.state', '=', 'listed')
    .where(sql<boolean>`starts_with(fact.subject, ${`${ip} `})`)
    .execute()
  return rows as FactRow[]
}

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
