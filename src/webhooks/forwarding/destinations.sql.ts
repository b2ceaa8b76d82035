import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { deleteRows, lockRow, type Row, updateRows } from '../../store/row.ts'
import { claimDueRows, futureTimestampsOf, type DueRows } from '../../store/due-rows.ts'
import type { Conditions } from '../conditions/conditions.ts'
import {
  DESTINATION_LEASE_SECONDS,
  MAX_DESTINATION_PAUSE_SECONDS,
  MAX_WAITING_BYTES,
  MAX_WAITING_DELIVERIES,
  RATED_DELIVERIES,
} from '../limits.ts'
import type { RequestChange, Signing } from './shapes.ts'

const COLUMNS = [
  'id',
  'endpointId',
  'workspaceId',
  'label',
  'target',
  /** The encrypted URL, headers and secrets. */
  'sealed',
  'state',
  'reason',
  'conditions as when',
  'signing as sign',
  'orderMode',
  'orderKey',
  'concurrency',
  'perMinute',
  'timeoutSeconds',
  'schedule',
  'finalStatuses',
  'skipRepeats',
  'change',
  'accepting',
  'dueAt',
  'breakerLevel',
  'failingSince',
  'alertedHours',
  'lastSuccessAt',
  'lastError',
  'createdAt',
  /** How many times a user has changed it. */
  'revision',
] as const

export type DestinationRow = Row<
  'webhookDestination',
  typeof COLUMNS,
  {
    state: 'active' | 'paused' | 'off'
    when: Conditions
    sign: Signing
    orderMode: 'none' | 'key' | 'strict'
    change: RequestChange | null
  }
>

export type ListedDestination = DestinationRow & {
  waiting: number
  held: number
  oldestWaitingAt: Date | null
  successRate: number | null
}

/** A destination that this instance sends to; `claims` identifies its claim. */
export type ClaimedDestination = DestinationRow & { claims: number }

export type DestinationValues = Partial<
  Omit<DestinationRow, 'id' | 'endpointId' | 'workspaceId' | 'revision'>
>

const WAITING = sql<number>`(select count(*) from webhook_delivery v
  where v.destination_id = d.id and v.state in ('waiting', 'sending'))`
const HELD = sql<number>`(select count(*) from webhook_delivery v
  where v.destination_id = d.id and v.state = 'held')`

const OLDEST_WAITING = sql<Date | null>`(select min(v.created_at) from webhook_delivery v
  where v.destination_id = d.id and v.state in ('waiting', 'sending', 'held'))`
const SUCCESS_RATE = sql<
  number | null
>`(select avg(case n.state when 'delivered' then 1 else 0 end)::float8
  from (select v.state from webhook_delivery v where v.destination_id = d.id
    and v.state in ('delivered', 'dead') order by v.seq desc limit ${sql.lit(RATED_DELIVERIES)}) n)`
const COUNTS = [
  WAITING.as('waiting'),
  HELD.as('held'),
  OLDEST_WAITING.as('oldestWaitingAt'),
  SUCCESS_RATE.as('successRate'),
] as const

/** Lists the destinations of an endpoint, oldest first. */
export async function listDestinations(db: Db, endpointId: string): Promise<ListedDestination[]> {
  const rows = await db
    .selectFrom('webhookDestination as d')
    .select(COLUMNS)
    .select(COUNTS)
    .where('d.endpointId', '=', endpointId)
    .orderBy('d.id')
    .execute()
  return rows as unknown as ListedDestination[]
}

/** What a capture needs of the destinations of an endpoint. */
export async function listCaptureDestinations(
  db: Db,
  endpointId: string,
): Promise<Pick<DestinationRow, 'id' | 'when' | 'orderMode' | 'orderKey'>[]> {
  const rows = await db
    .selectFrom('webhookDestination as d')
    .select(['d.id', 'd.conditions as when', 'd.orderMode', 'd.orderKey'])
    .where('d.endpointId', '=', endpointId)
    .orderBy('d.id')
    .execute()
  return rows as unknown as Pick<DestinationRow, 'id' | 'when' | 'orderMode' | 'orderKey'>[]
}

export async function findDestination(
  db: Db,
  endpointId: string,
  id: string,
): Promise<ListedDestination | undefined> {
  const row = await db
    .selectFrom('webhookDestination as d')
    .select(COLUMNS)
    .select(COUNTS)
    .where('d.endpointId', '=', endpointId)
    .where('d.id', '=', id)
    .executeTakeFirst()
  return row as unknown as ListedDestination | undefined
}

/** Counts the destinations of a workspace, and locks it until the transaction ends. */
export async function countDestinations(
  db: Db,
  workspaceId: string,
  endpointId: string,
): Promise<{ ofWorkspace: number; ofEndpoint: number }> {
  await lockRow(db, 'workspace', ['id'], { id: workspaceId })
  const { rows } = await sql<{ ofWorkspace: number; ofEndpoint: number }>`
    select count(*) as of_workspace, count(*) filter (where endpoint_id = ${endpointId}) as of_endpoint
    from webhook_destination where workspace_id = ${workspaceId}`.execute(db)
  return rows[0] ?? { ofWorkspace: 0, ofEndpoint: 0 }
}

export async function insertDestination(
  db: Db,
  values: DestinationValues & {
    id: string
    endpointId: string
    workspaceId: string
    target: string
    sealed: string
  },
): Promise<void> {
  await db.insertInto('webhookDestination').values(columnsOf(values)).execute()
}

/** Changes what a user asked for. Nothing more is claimed with the settings before. */
export async function updateDestination(
  db: Db,
  id: string,
  values: DestinationValues,
): Promise<void> {
  await db
    .updateTable('webhookDestination')
    .set({ ...columnsOf(values), revision: sql<number>`revision + 1` })
    .where('id', '=', id)
    .execute()
}

function columnsOf<T extends DestinationValues>({ when, sign, change, ...rest }: T) {
  return {
    ...rest,
    ...(when && { conditions: JSON.stringify(when) }),
    ...(sign && { signing: sign }),
    ...(change !== undefined && { change: change && JSON.stringify(change) }),
  }
}

export async function deleteDestination(db: Db, endpointId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'webhookDestination', { id, endpointId })
}

/**
 * Destinations with deliveries that are due, or that an instance left which died. A claim has a
 * destination as a whole, so that its order, its rate and its breaker are decided in one place.
 */
export const DUE_DESTINATIONS: DueRows = {
  table: 'webhook_destination',
  dueAt: 'due_at',
  claimedUntil: 'claimed_until',
  leaseSeconds: DESTINATION_LEASE_SECONDS,
  claims: 'claims',
  where: sql`r.state = 'active' and (r.claimed_until is not null or exists (
    select from webhook_delivery v where v.destination_id = r.id
      and v.state = 'waiting' and v.due_at <= now()))`,
}

export const DESTINATION_TIMESTAMPS = futureTimestampsOf(DUE_DESTINATIONS, {
  clock: 'database',
  aheadSeconds: MAX_DESTINATION_PAUSE_SECONDS,
})

/** Claims destinations that are due, one of each account in turn. */
export async function claimDestinations(db: Db, limit: number): Promise<ClaimedDestination[]> {
  const columns = sql`r.*, r.conditions as "when", r.signing as sign`
  return (await claimDueRows<ClaimedDestination>(DUE_DESTINATIONS, { limit }, columns).execute(db))
    .rows
}

/** What is read again while it is sent to, because a user may have changed it. */
export async function renewClaim(
  db: Db,
  { id, claims }: ClaimedDestination,
): Promise<DestinationRow | undefined> {
  const { numUpdatedRows } = await db
    .updateTable('webhookDestination')
    .set({
      claimedUntil: sql<Date>`now() + make_interval(secs => ${DESTINATION_LEASE_SECONDS})`,
    })
    .where('id', '=', id)
    .where('claims', '=', claims)
    .where('state', '=', 'active')
    .executeTakeFirst()
  if (numUpdatedRows === 0n) return undefined
  const row = await db
    .selectFrom('webhookDestination as d')
    .select(COLUMNS)
    .where('d.id', '=', id)
    .executeTakeFirst()
  return row as unknown as DestinationRow | undefined
}

/**
 * Ends a claim. Other destinations of its account that are due come before it now.
 * @param hasLeft whether deliveries were left that the next claim has to recover
 */
export async function releaseDestination(
  db: Db,
  { id, claims }: ClaimedDestination,
  hasLeft = false,
): Promise<void> {
  await db
    .updateTable('webhookDestination')
    .set({
      claimedUntil: hasLeft ? sql<Date>`now()` : null,
      dueAt: sql<Date>`greatest(due_at, now())`,
    })
    .where('id', '=', id)
    .where('claims', '=', claims)
    .execute()
}

/** Changes the state of a destination, unless another instance has it by now. */
export async function updateClaimed(
  db: Db,
  { id, claims }: ClaimedDestination,
  values: DestinationValues,
): Promise<boolean> {
  return updateRows(db, 'webhookDestination', { id, claims }, columnsOf(values))
}

/** A destination whose queue is full since now, or has room again. */
export type QueueChange = Pick<
  DestinationRow,
  'id' | 'endpointId' | 'workspaceId' | 'label' | 'target' | 'accepting'
>

/** Stops or resumes queueing deliveries of destinations, by what waits. */
export async function limitQueues(db: Db): Promise<QueueChange[]> {
  const { rows } = await sql<QueueChange>`
    with queued as (
      select destination_id, count(*) as deliveries, sum(bytes) as bytes from webhook_delivery
      where state in ('waiting', 'sending', 'held') group by destination_id),
    wanted as (
      select d.id, coalesce(q.deliveries, 0) < ${MAX_WAITING_DELIVERIES}
          and coalesce(q.bytes, 0) < ${MAX_WAITING_BYTES} as accepting
      from webhook_destination d left join queued q on q.destination_id = d.id)
    update webhook_destination d set accepting = w.accepting from wanted w
    where d.id = w.id and d.accepting <> w.accepting
    returning d.id, d.endpoint_id, d.workspace_id, d.label, d.target, d.accepting`.execute(db)
  return rows
}
