import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { countRows, findRow, insertRow, type Row } from '../../store/row.ts'
import { claimDueRows, futureTimestampsOf, type DueRows } from '../../store/due-rows.ts'
import type { Conditions } from '../conditions/conditions.ts'
import { MAX_DESTINATION_PAUSE_SECONDS, REPLAY_LEASE_SECONDS } from '../limits.ts'
import type { DeliveryState } from './shapes.ts'

const COLUMNS = [
  'id',
  'endpointId',
  'workspaceId',
  'destinationId',
  'requestIds',
  'since',
  'until',
  'states',
  'conditions as when',
  'perMinute',
  'state',
  'cursor',
  'upTo',
  'total',
  'compared',
  'queued',
  'createdAt',
  'endedAt',
] as const

export type ReplayRow = Row<
  'webhookReplay',
  typeof COLUMNS,
  {
    states: DeliveryState[] | null
    when: Conditions
    state: 'running' | 'done' | 'cancelled'
  }
>

export type ClaimedReplay = ReplayRow & { claims: number }

export type NewReplay = Pick<
  ReplayRow,
  | 'endpointId'
  | 'workspaceId'
  | 'destinationId'
  | 'requestIds'
  | 'since'
  | 'until'
  | 'states'
  | 'when'
  | 'perMinute'
>

/** The stored requests that a replay compares: how many, and the number of the newest one. */
export async function measureReplay(
  db: Db,
  { endpointId, requestIds, since, until }: NewReplay,
): Promise<{ total: number; upTo: number }> {
  const { rows } = await sql<{ total: number; upTo: number | null }>`
    select count(*) as total, max(seq) as up_to from webhook_request
    where endpoint_id = ${endpointId} and rejected is null and not aborted and not preflight
      and (${requestIds}::uuid[] is null or id = any(${requestIds}::uuid[]))
      and (${since}::timestamptz is null or received_at > ${since}::timestamptz)
      and (${until}::timestamptz is null or received_at <= ${until}::timestamptz)`.execute(db)
  return { total: rows[0]?.total ?? 0, upTo: rows[0]?.upTo ?? 0 }
}

export async function insertReplay(
  db: Db,
  { when, ...replay }: NewReplay & { total: number; upTo: number },
): Promise<ReplayRow> {
  const row = { ...replay, conditions: JSON.stringify(when) }
  return (await insertRow(db, 'webhookReplay', row, COLUMNS)) as ReplayRow
}

/** Lists the replays of an endpoint, newest first. */
export async function listReplays(db: Db, endpointId: string, limit: number): Promise<ReplayRow[]> {
  const rows = await db
    .selectFrom('webhookReplay')
    .select(COLUMNS)
    .where('endpointId', '=', endpointId)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows as unknown as ReplayRow[]
}

export async function countRunningReplays(db: Db, endpointId: string): Promise<number> {
  return countRows(db, 'webhookReplay', { endpointId, state: 'running' })
}

export async function findReplay(
  db: Db,
  endpointId: string,
  id: string,
): Promise<ReplayRow | undefined> {
  const row = await findRow(db, 'webhookReplay', COLUMNS, { endpointId, id })
  return row as ReplayRow | undefined
}

/** Cancels a replay, and its deliveries that wait. */
export async function cancelReplay(db: Db, id: string): Promise<void> {
  await db
    .updateTable('webhookReplay')
    .set({ state: 'cancelled', endedAt: sql<Date>`now()` })
    .where('id', '=', id)
    .where('state', '=', 'running')
    .execute()
  await db
    .updateTable('webhookDelivery')
    .set({ state: 'cancelled', endedAt: sql<Date>`now()` })
    .where('replayId', '=', id)
    .where('state', 'in', ['waiting', 'held'])
    .execute()
}

/** Replays whose next page is due. */
const DUE_REPLAYS: DueRows = {
  table: 'webhook_replay',
  dueAt: 'due_at',
  claimedUntil: 'claimed_until',
  leaseSeconds: REPLAY_LEASE_SECONDS,
  claims: 'claims',
  where: sql`r.state = 'running'`,
}

export const REPLAY_TIMESTAMPS = futureTimestampsOf(DUE_REPLAYS, {
  clock: 'database',
  aheadSeconds: MAX_DESTINATION_PAUSE_SECONDS,
})

export async function claimReplays(db: Db, limit: number): Promise<ClaimedReplay[]> {
  const columns = sql`r.*, r.conditions as "when"`
  return (await claimDueRows<ClaimedReplay>(DUE_REPLAYS, { limit }, columns).execute(db)).rows
}

/** What a page of a replay found. */
export type ReplayPage = {
  cursor: number
  compared: number
  isLast: boolean
  dueAt: Date
  deliveries: { requestId: string; bytes: number; orderKey: string | null }[]
}

/**
 * Queues the deliveries of a page, and stores how far the replay is: both or none of it.
 * @returns false where another instance has it, or it was cancelled
 */
export async function saveReplayPage(
  db: Db,
  { id, claims, endpointId, destinationId }: ClaimedReplay,
  { cursor, compared, isLast, dueAt, deliveries }: ReplayPage,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('webhookReplay')
    .set({
      cursor,
      compared: sql<number>`compared + ${compared}`,
      queued: sql<number>`queued + ${deliveries.length}`,
      dueAt,
      claimedUntil: null,
      ...(isLast && { state: 'done', endedAt: sql<Date>`now()` }),
    })
    .where('id', '=', id)
    .where('claims', '=', claims)
    .where('state', '=', 'running')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return false
  if (deliveries.length === 0) return true
  const rows = JSON.stringify(deliveries)
  await sql`
    insert into webhook_delivery (destination_id, endpoint_id, request_id, replay_id, state, bytes, order_key)
    select d.id, ${endpointId}, g."requestId", ${id}, case when d.state = 'active' then 'waiting' else 'held' end,
      g.bytes, g."orderKey"
    from jsonb_to_recordset(${rows}::jsonb) as g ("requestId" uuid, bytes int, "orderKey" text)
    join webhook_destination d on d.id = ${destinationId}`.execute(db)
  return true
}

/** The state of the newest delivery of each of these requests to a destination. */
export async function newestStates(
  db: Db,
  destinationId: string,
  requestIds: string[],
): Promise<Map<string, DeliveryState>> {
  const { rows } = await sql<{ requestId: string; state: DeliveryState }>`
    select distinct on (request_id) request_id, state from webhook_delivery
    where destination_id = ${destinationId} and request_id = any(${requestIds}::uuid[])
    order by request_id, seq desc`.execute(db)
  return new Map(rows.map(({ requestId, state }) => [requestId, state]))
}

/** How many deliveries of a destination wait, up to a number. */
export async function countWaiting(db: Db, destinationId: string, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (
      select from webhook_delivery where destination_id = ${destinationId}
        and state in ('waiting', 'sending', 'held') limit ${most}) w`.execute(db)
  return rows[0]?.count ?? 0
}
