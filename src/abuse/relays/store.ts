import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { responsibleFor, workspacesOf } from '../../store/responsible.ts'
import type { DB } from '../../store/tables.ts'
import type { OutgoingReport, RelayServiceId } from './services/relay-service.ts'

export type RelayRow = {
  id: string
  workspaceId: string
  service: RelayServiceId
  enabled: boolean
  account: string
  sealed: string
  lastFour: string
  problem: string | null
  pausedUntil: Date | null
  dropped: number
}

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
  const { numDeletedRows } = await db
    .deleteFrom('relay')
    .where('workspaceId', '=', workspaceId)
    .where('service', '=', service)
    .executeTakeFirst()
  return numDeletedRows > 0n
}

// --- the queue ---

export type QueuedReport = {
  address: string
  service: string
  port: number | null
  count: number
}

/**
 * Queues reports for all services of a workspace. A report of an address that waits already is
 * added to the one that waits.
 */
export async function insertReports(
  db: Db,
  workspaceId: string,
  { reports, at, maxWaiting }: { reports: QueuedReport[]; at: Date; maxWaiting: number },
): Promise<void> {
  await sql`
    with given as (
      select address, array_agg(distinct service) as services, min(port) as port, least(sum(count), 1000000)::int as count
      from json_to_recordset(${JSON.stringify(reports)}::json)
        as report (address inet, service text, port integer, count integer)
      group by address
    ),
    target as (
      select r.id, ${maxWaiting}::bigint - (
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

export type ClaimedRelay = RelayRow & { sentToday: number }

/**
 * Claims the relay with due reports of the account that was served longest ago. Only one
 * sender has a relay at a time.
 */
export async function claimRelay(
  db: Db,
  { now, leaseUntil, dayStart }: { now: Date; leaseUntil: Date; dayStart: Date },
): Promise<ClaimedRelay | undefined> {
  const { rows } = await sql<ClaimedRelay>`
    update relay set claimed_until = ${leaseUntil}, served_at = ${now}
    where id = (
      select r.id from relay r
      where r.enabled and r.problem is null and coalesce(r.paused_until, '-infinity') <= ${now}
        and coalesce(r.claimed_until, '-infinity') < ${now}
        and not ${isInDeletedWorkspace('r.workspace_id')}
        and exists (
          select from relayed_report q
          where q.relay_id = r.id and (q.state = 'sending' or (q.state = 'waiting' and q.due_at <= ${now})))
      order by (
        select max(s.served_at) from relay s where s.workspace_id in ${workspacesOf(responsibleFor('r.workspace_id'))}
      ) nulls first, r.served_at nulls first, r.id limit 1 for update skip locked)
    returning id, workspace_id, service, enabled, account, sealed, last_four, problem, paused_until, dropped,
      (select count(*)::int from relayed_report q
        where q.relay_id = relay.id and q.ended_at >= ${dayStart} and q.state in ('sent', 'uncertain')) as sent_today`.execute(
    db,
  )
  return rows[0]
}

/** Ends a claim. @param pausedUntil null to continue at once */
export async function releaseRelay(
  db: Db,
  id: string,
  { pausedUntil, problem }: { pausedUntil: Date | null; problem: string | null },
): Promise<void> {
  await db
    .updateTable('relay')
    .set({ claimedUntil: null, pausedUntil, ...(problem !== null && { problem }) })
    .where('id', '=', id)
    .execute()
}

/**
 * Returns what a sender left that died: reports that the service did not get wait again, and of the
 * others nobody knows whether it has them.
 */
export async function recoverReports(db: Db, relayId: string, now: Date): Promise<void> {
  await sql`
    update relayed_report set state = 'uncertain', ended_at = ${now},
      reason = 'The service stopped while it was sent.'
    where relay_id = ${relayId} and state = 'sending' and handed_over_at is not null`.execute(db)
  // Another report of the address may wait meanwhile; that one is enough.
  await sql`
    delete from relayed_report left_over
    where relay_id = ${relayId} and state = 'sending' and exists (
      select from relayed_report q
      where q.relay_id = left_over.relay_id and q.address = left_over.address and q.state = 'waiting')`.execute(
    db,
  )
  await sql`
    update relayed_report set state = 'waiting'
    where relay_id = ${relayId} and state = 'sending'`.execute(db)
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
  const { rows } = await sql<ClaimedReport>`
    update relayed_report set state = 'sending', attempts = attempts + 1, handed_over_at = null
    where id in (
      select id from relayed_report
      where relay_id = ${relayId} and state = 'waiting' and due_at <= ${now}
      order by due_at, id limit ${limit})
    returning id, attempts, host(address) as address, services, port, count, reported_at`.execute(
    db,
  )
  return rows
}

export async function markHandedOver(db: Db, ids: string[], at: Date): Promise<void> {
  await db
    .updateTable('relayedReport')
    .set({ handedOverAt: at })
    .where('id', 'in', ids)
    .where('state', '=', 'sending')
    .execute()
}

export async function endReports(
  db: Db,
  ids: string[],
  ended: { state: 'sent' | 'rejected' | 'uncertain'; reason: string; at: Date },
): Promise<void> {
  const { state, reason, at } = ended
  await db
    .updateTable('relayedReport')
    .set({ state, reason, endedAt: at })
    .where('id', 'in', ids)
    .execute()
}

/** Lets reports wait again; deletes one if another of its address is waiting by now. */
export async function returnReports(
  db: Db,
  ids: string[],
  { reason, dueAt }: { reason: string; dueAt: Date },
): Promise<void> {
  await sql`
    delete from relayed_report returned
    where id = any(${ids}::uuid[]) and exists (
      select from relayed_report q
      where q.relay_id = returned.relay_id and q.address = returned.address and q.state = 'waiting')`.execute(
    db,
  )
  await db
    .updateTable('relayedReport')
    .set({ state: 'waiting', reason, dueAt, handedOverAt: null })
    .where('id', 'in', ids)
    .execute()
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

export async function deleteOldReports(db: Db, before: Date): Promise<void> {
  await db.deleteFrom('relayedReport').where('endedAt', '<', before).execute()
}
