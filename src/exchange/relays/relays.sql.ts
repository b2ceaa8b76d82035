import { sql, type Transaction } from 'kysely'
import { createOutbox } from '../../jobs/outbox.ts'
import type { Db } from '../../store/database.ts'
import { claimDueRows, type DueRows } from '../../store/due-rows.ts'
import type { DB } from '../../store/tables.ts'
import type { QueuedReport } from '../report-queue.ts'
import { LEASE_SECONDS, MAX_WAITING } from './limits.ts'
import type { OutgoingReport, RelayServiceId } from './services/relay-service.ts'
import { deleteRows, type Row } from '../../store/row.ts'

const RELAY = [
  'id',
  'workspaceId',
  'service',
  'enabled',
  'account',
  'sealed',
  'lastFour',
  'problem',
  'pausedUntil',
  'dropped',
] as const

export type RelayRow = Row<'relay', typeof RELAY, { service: RelayServiceId }>

export async function listRelays(db: Db, workspaceId: string): Promise<RelayRow[]> {
  const rows = db.selectFrom('relay').select(RELAY).where('workspaceId', '=', workspaceId)
  return (await rows.orderBy('service').execute()) as RelayRow[]
}

export async function findRelay(
  db: Db,
  workspaceId: string,
  service: RelayServiceId,
): Promise<RelayRow | undefined> {
  return (await listRelays(db, workspaceId)).find((relay) => relay.service === service)
}

/** Lists the workspaces whose reports are relayed. */
export async function listRelayingWorkspaces(db: Db): Promise<string[]> {
  const rows = await db.selectFrom('relay').select('workspaceId').where('enabled', '=', true).distinct().execute() // prettier-ignore
  return rows.map(({ workspaceId }) => workspaceId)
}

export type RelaySettings = Pick<RelayRow, 'account' | 'sealed' | 'lastFour' | 'enabled'>

/** Inserts or replaces the settings of a service; its problem and pause are over then. */
export async function saveRelay(
  db: Transaction<DB>,
  row: { id: string; workspaceId: string; service: RelayServiceId } & RelaySettings,
): Promise<void> {
  const { account, sealed, lastFour, enabled } = row
  const fresh = { account, sealed, lastFour, enabled, problem: null, pausedUntil: null }
  await db
    .insertInto('relay')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspaceId', 'service']).doUpdateSet(fresh))
    .execute()
}

export async function deleteRelay(
  db: Db,
  workspaceId: string,
  service: RelayServiceId,
): Promise<boolean> {
  return deleteRows(db, 'relay', { workspaceId, service })
}

// --- the queue ---

/**
 * Queues reports for all services of a workspace. A report of an address that waits already is
 * added to the one that waits.
 */
export async function insertReports(
  db: Db,
  workspaceId: string,
  reports: QueuedReport[],
  at: Date,
): Promise<void> {
  await sql`
    with given as (
      select address, array_agg(distinct service) as services, min(port) as port, least(sum(count), 1000000)::int as count
      from json_to_recordset(${JSON.stringify(reports)}::json)
        as report (address inet, service text, port integer, count integer)
      group by address
    ),
    target as (
      select r.id, ${MAX_WAITING}::bigint - (
        select count(*) from relayed_report q where q.relay_id = r.id and q.state = 'waiting') as room
      from relay r where r.workspace_id = ${workspaceId} and r.enabled
    ),
    numbered as (
      select target.id as relay_id, target.room, given.*,
        row_number() over (partition by target.id order by given.address) as number
      from target cross join given
    ),
    queued as (
      insert into relayed_report as known (relay_id, address, services, port, count, reported_at, due_at)
      select relay_id, address, services, port, count, ${at}::timestamptz, ${at}::timestamptz
      from numbered where number <= room
      order by relay_id, address
      on conflict (relay_id, address) where state = 'waiting' do update set
        services = (select array_agg(distinct s) from unnest(known.services || excluded.services) s),
        port = coalesce(known.port, excluded.port),
        count = least(known.count + excluded.count, 1000000),
        reported_at = excluded.reported_at
    )
    update relay set dropped = dropped + lost.count
    from (select relay_id, count(*) as count from numbered where number > room group by relay_id) lost
    where relay.id = lost.relay_id`.execute(db)
}

export type ClaimedRelay = RelayRow & { claimedUntil: Date; sentToday: number }

/** Relays that are not paused, by the clock of the service: the account served longest ago first. */
export const DUE_RELAYS: DueRows = {
  table: 'relay',
  dueAt: 'paused_until',
  claimedUntil: 'claimed_until',
  leaseSeconds: LEASE_SECONDS,
  where: sql`r.enabled and r.problem is null`,
  turn: sql`(
    select max(served.served_at) from relay served join workspace own on own.id = served.workspace_id
    where own.responsible_id = w.responsible_id) nulls first, r.served_at`,
}

/** Claims a relay with due reports. Only one sender has a relay at a time. */
export async function claimRelay(
  db: Db,
  { now, dayStart }: { now: Date; dayStart: Date },
): Promise<ClaimedRelay | undefined> {
  const isDue = sql`coalesce(r.paused_until, '-infinity') <= ${now} and exists (
    select from relayed_report q
    where q.relay_id = r.id and (q.state = 'sending' or (q.state = 'waiting' and q.due_at <= ${now})))`
  const set = sql`served_at = ${now}`
  const columns = sql`${sql.join([...RELAY, 'claimedUntil'].map((column) => sql.ref(`r.${column}`)))},
    (select count(*)::int from relayed_report q
      where q.relay_id = r.id and q.ended_at >= ${dayStart} and q.state in ('sent', 'uncertain')) as sent_today`
  const claim = claimDueRows<ClaimedRelay>(DUE_RELAYS, { now, isDue, set, limit: 1 }, columns)
  return (await claim.execute(db)).rows[0]
}

/**
 * Ends a claim; false when another sender has the relay by now.
 * @param pausedUntil null to continue at once
 */
export async function releaseRelay(
  db: Db,
  { id, claimedUntil }: Pick<ClaimedRelay, 'id' | 'claimedUntil'>,
  { pausedUntil, problem }: { pausedUntil: Date | null; problem: string | null },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('relay')
    .set({ claimedUntil: null, pausedUntil, ...(problem !== null && { problem }) })
    .where('id', '=', id)
    .where('claimedUntil', '=', claimedUntil)
    .executeTakeFirst()
  return numUpdatedRows > 0n
}

/** Reports that are due, while a sender has their relay. */
const DUE_REPORTS = { table: 'relayed_report', dueAt: 'due_at' }

const OUTBOX = createOutbox(DUE_REPORTS, {
  reason: 'reason',
  handedOverAt: 'handedOverAt',
  oneWaits: ['relayId', 'address'],
})
export const { handOver: handOverReports, end: endReports, putBack: putBackReports } = OUTBOX

/**
 * Locks a relay until the transaction ends; false when this sender no longer has it, because it
 * stalled.
 */
export async function lockRelay(
  db: Transaction<DB>,
  { id, claimedUntil }: ClaimedRelay,
): Promise<boolean> {
  const row = await db
    .selectFrom('relay')
    .select('id')
    .where('id', '=', id)
    .where('claimedUntil', '=', claimedUntil)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row !== undefined
}

/** Recovers the reports of an earlier sender of the relay, whose claim is over. */
export function recoverReports(db: Db, relayId: string, now: Date): Promise<void> {
  return OUTBOX.recover(db, { which: sql`r.relay_id = ${relayId}`, now })
}

/** Lets addresses wait that the service got within the interval. */
export async function postponeRepeated(
  db: Db,
  relayId: string,
  { now, intervalSeconds }: { now: Date; intervalSeconds: number },
): Promise<void> {
  await sql`
    update relayed_report q set due_at = sent.ended_at + make_interval(secs => ${intervalSeconds})
    from (
      select address, max(ended_at) as ended_at from relayed_report
      where relay_id = ${relayId} and state in ('sent', 'uncertain')
        and ended_at > ${now}::timestamptz - make_interval(secs => ${intervalSeconds})
      group by address) sent
    where q.relay_id = ${relayId} and q.state = 'waiting' and q.due_at <= ${now} and q.address = sent.address`.execute(
    db,
  )
}

/** Gives up reports that waited too long. */
export async function expireReports(
  db: Db,
  relayId: string,
  { now, before }: { now: Date; before: Date },
): Promise<void> {
  await db
    .updateTable('relayedReport')
    .set({ state: 'rejected', endedAt: now, reason: 'It waited too long.' })
    .where('relayId', '=', relayId)
    .where('state', '=', 'waiting')
    .where('reportedAt', '<', before)
    .execute()
}

export type ClaimedReport = OutgoingReport & { id: string; attempts: number }

export async function claimReports(
  db: Db,
  relayId: string,
  { now, limit }: { now: Date; limit: number },
): Promise<ClaimedReport[]> {
  const due = sql`r.id = any(array(
    select id from relayed_report
    where relay_id = ${relayId} and state = 'waiting' and due_at <= ${now}
    order by due_at, id limit ${limit}))`
  const columns = sql`r.id, r.attempts, host(r.address) as address, r.services, r.port, r.count, r.reported_at`
  return (await OUTBOX.claim<ClaimedReport>(due, columns).execute(db)).rows
}

// --- for people ---

export type RelayCounts = {
  relayId: string
  waiting: number
  sent24h: number
  rejected24h: number
  lastSentAt: Date | null
}

export async function countReports(db: Db, workspaceId: string): Promise<RelayCounts[]> {
  const { rows } = await sql<RelayCounts>`
    select r.id as relay_id,
      (select count(*)::int from relayed_report q where q.relay_id = r.id and q.state in ('waiting', 'sending')) as waiting,
      (select count(*)::int from relayed_report q
        where q.relay_id = r.id and q.ended_at > now() - interval '24 hours' and q.state in ('sent', 'uncertain')) as sent24h,
      (select count(*)::int from relayed_report q
        where q.relay_id = r.id and q.ended_at > now() - interval '24 hours' and q.state = 'rejected') as rejected24h,
      (select max(ended_at) from relayed_report q where q.relay_id = r.id and q.state = 'sent') as last_sent_at
    from relay r where r.workspace_id = ${workspaceId}`.execute(db)
  return rows
}

export type ListedReport = {
  id: string
  service: RelayServiceId
  address: string
  services: string[]
  port: number | null
  count: number
  reportedAt: Date
  state: 'waiting' | 'sending' | 'sent' | 'rejected' | 'uncertain'
  reason: string
  dueAt: Date
  endedAt: Date | null
}

/** Lists relayed reports, newest first. */
export async function listReports(
  db: Db,
  workspaceId: string,
  { service, limit, offset }: { service: RelayServiceId | null; limit: number; offset: number },
): Promise<{ rows: ListedReport[]; total: number }> {
  const { rows } = await sql<ListedReport & { total: number }>`
    select q.id, r.service, host(q.address) as address, q.services, q.port, q.count, q.reported_at, q.state,
      q.reason, q.due_at, q.ended_at, count(*) over ()::int as total
    from relayed_report q join relay r on r.id = q.relay_id
    where r.workspace_id = ${workspaceId} and (${service}::text is null or r.service = ${service})
    order by q.id desc limit ${limit} offset ${offset}`.execute(db)
  return { rows: rows.map(({ total: _total, ...row }) => row), total: rows[0]?.total ?? 0 }
}
