import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { findRow, insertRow, type Row, updateRows } from '../../store/row.ts'
import { isFree } from '../../store/due-rows.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { HELD_DELIVERY_DAYS, LISTED_ATTEMPTS, MAX_READ_BYTES } from '../limits.ts'
import { SELECTED_COLUMNS, type RequestRow } from '../requests/captured-request.ts'
import { requestToSend, type EditedFields } from './edit-request.ts'
import { readEdits } from './edits.sql.ts'
import type { DeliveryState } from './shapes.ts'
import type { Timings } from './send-attempt.ts'
import { DUE_DESTINATIONS, type ClaimedDestination } from './destinations.sql.ts'

const COLUMNS = [
  'id',
  'seq',
  'destinationId',
  'requestId',
  'replayId',
  'edited',
  'state',
  'attempts',
  'dueAt',
  'uncertain',
  'status',
  'error',
  'createdAt',
  'endedAt',
] as const

export type DeliveryRow = Row<'webhookDelivery', typeof COLUMNS, { state: DeliveryState }>

export type ClaimedDelivery = DeliveryRow & {
  /** Attempts so far, also those that count for no schedule. */
  made: number
  request: RequestRow | undefined
}

export type DeliveryFilter = {
  destination?: string | undefined
  request?: string | undefined
  state?: DeliveryState | undefined
}

/** Lists a page of deliveries of an endpoint, newest first. */
export async function listDeliveriesOf(
  db: Db,
  endpointId: string,
  { destination, request, state }: DeliveryFilter,
  { before, limit }: { before: number | null; limit: number },
): Promise<DeliveryRow[]> {
  const rows = await db
    .selectFrom('webhookDelivery')
    .select(COLUMNS)
    .where('endpointId', '=', endpointId)
    .where('destinationId', 'in', (query) =>
      query
        .selectFrom('webhookDestination')
        .select('id')
        .where('endpointId', '=', endpointId)
        .$if(destination !== undefined, (some) => some.where('id', '=', destination as string)),
    )
    .$if(request !== undefined, (query) => query.where('requestId', '=', request as string))
    .$if(state !== undefined, (query) => query.where('state', '=', state as string))
    .$if(before !== null, (query) => query.where('seq', '<', before))
    .orderBy('seq', 'desc')
    .limit(limit)
    .execute()
  return rows as unknown as DeliveryRow[]
}

export async function findDelivery(
  db: Db,
  endpointId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  return findRow(db, 'webhookDelivery', COLUMNS, { endpointId, id })
}

const ATTEMPT_COLUMNS = [
  'number',
  'at',
  'durationMs',
  'dnsMs',
  'connectMs',
  'tlsMs',
  'firstByteMs',
  'status',
  'kind',
  'error',
  'address',
  'answer',
] as const

export type AttemptRow = Row<'webhookAttempt', typeof ATTEMPT_COLUMNS, Timings>

/**
 * Lists the newest attempts of a delivery, first one first. A receiver that asks to wait again and
 * again, and retries by hand, can lead to many.
 */
export async function listAttempts(db: Db, deliveryId: string): Promise<AttemptRow[]> {
  const rows = await db
    .selectFrom('webhookAttempt')
    .select(ATTEMPT_COLUMNS)
    .where('deliveryId', '=', deliveryId)
    .orderBy('number', 'desc')
    .limit(LISTED_ATTEMPTS)
    .execute()
  return rows.toReversed()
}

/** Adds a delivery of a request that is stored. */
export async function insertDelivery(
  db: Db,
  values: {
    destinationId: string
    endpointId: string
    requestId: string
    state: DeliveryState
    bytes: number
    orderKey: string | null
    edited?: boolean
  },
): Promise<string> {
  const { id } = await insertRow(db, 'webhookDelivery', values, ['id'])
  return id
}

/** Makes a delivery due now, whatever its state was. */
export async function retryDelivery(db: Db, id: string, state: 'waiting' | 'held'): Promise<void> {
  await db
    .updateTable('webhookDelivery')
    .set({ state, dueAt: sql<Date>`now()`, endedAt: null })
    .where('id', '=', id)
    .where('state', 'not in', ['waiting', 'sending'])
    .execute()
  await updateRows(db, 'webhookDelivery', { id, state: 'waiting' }, { dueAt: sql<Date>`now()` })
}

/** Moves the waiting deliveries of a destination to another state. */
export async function moveDeliveries(
  db: Db,
  destinationId: string,
  from: readonly DeliveryState[],
  to: DeliveryState,
): Promise<number> {
  const hasEnded = to === 'cancelled' || to === 'dropped'
  const { numUpdatedRows } = await db
    .updateTable('webhookDelivery')
    .set({
      state: to,
      ...(to === 'waiting' && { dueAt: sql<Date>`now()` }),
      ...(hasEnded && { endedAt: sql<Date>`now()` }),
    })
    .where('destinationId', '=', destinationId)
    .where('state', 'in', [...from])
    .executeTakeFirst()
  return Number(numUpdatedRows)
}

/**
 * Makes deliveries due that are held though their destination is active: they were stored while it
 * was resumed.
 */
export async function releaseWronglyHeld(db: Db): Promise<void> {
  await sql`
    with resumed as (
      select id from webhook_destination
      where state = 'active' and id in (select destination_id from webhook_delivery where state = 'held')
      for share)
    update webhook_delivery v set state = 'waiting', due_at = now()
    from resumed where v.destination_id = resumed.id and v.state = 'held'`.execute(db)
}

/**
 * Cancels deliveries of a destination that were being sent when their instance died: no instance has
 * claimed it. The receiver may have them.
 */
export async function cancelAbandoned(db: Db, destinationId: string): Promise<void> {
  await sql`
    update webhook_delivery v set state = 'cancelled', ended_at = now(), uncertain = true
    from webhook_destination r
    where r.id = ${destinationId} and v.destination_id = r.id and v.state = 'sending'
      and ${isFree(DUE_DESTINATIONS)}`.execute(db)
}

/** Drops deliveries that have been held for too long. */
export async function dropHeld(db: Db): Promise<void> {
  await sql`
    update webhook_delivery set state = 'dropped', ended_at = now(),
      error = 'The destination was not resumed in time.'
    where state = 'held' and due_at < now() - make_interval(days => ${HELD_DELIVERY_DAYS})`.execute(
    db,
  )
}

/**
 * Makes deliveries due again that an earlier claim left: its instance died, and the receiver may
 * have them.
 */
export async function recoverDeliveries(
  db: Db,
  { id, claims }: ClaimedDestination,
): Promise<number> {
  const { numAffectedRows } = await sql`
    update webhook_delivery set state = 'waiting', due_at = now(), uncertain = true
    where destination_id = ${id} and state = 'sending' and due_at <= now() and run <> ${claims}`.execute(
    db,
  )
  return Number(numAffectedRows ?? 0)
}

/**
 * Claims deliveries of a claimed destination in their order, with their requests: none where a user
 * has changed the destination since it was read.
 * @param limit how many can be sent now; fewer are claimed where their bodies are large
 */
export async function claimDeliveries(
  db: Db,
  destination: ClaimedDestination,
  limit: number,
): Promise<ClaimedDelivery[]> {
  const { id, endpointId, claims, revision } = destination
  const { rows } = await sql<DeliveryRow & { made: number }>`
    update webhook_delivery d set state = 'sending', run = ${claims}
    where d.id = any(array(
      select w.id from (
        select v.id, sum(v.bytes) over (order by v.due_at, v.seq) - v.bytes as before from (
          select v.id, v.due_at, v.seq, v.bytes from webhook_delivery v
          where v.destination_id = ${id} and v.state = 'waiting' and v.due_at <= now() and ${isFirst(destination)}
          order by v.due_at, v.seq limit ${limit}) v) w
      where w.before < ${MAX_READ_BYTES}))
      and exists (select from webhook_destination t
        where t.id = ${id} and t.claims = ${claims} and t.revision = ${revision} and not ${isInDeletedWorkspace('t.workspace_id')})
    returning d.id, d.seq, d.destination_id, d.request_id, d.replay_id, d.edited, d.state, d.attempts, d.due_at,
      d.uncertain, d.status, d.error, d.created_at, d.ended_at,
      case when d.attempts > 0 or d.status is not null or d.error is not null
        then (select count(*) from webhook_attempt a where a.delivery_id = d.id) else 0 end as made`.execute(
    db,
  )
  if (rows.length === 0) return []
  const requests = await readRequests(
    db,
    endpointId,
    rows.map(({ requestId }) => requestId),
  )
  const edits = await readEdits(
    db,
    rows.filter(({ edited }) => edited).map((row) => row.id),
  )
  return rows
    .toSorted((a, b) => a.seq - b.seq)
    .map((row) => ({ ...row, request: requestOf(row, requests, edits) }))
}

/** What is sent: nothing where the captured request, or what was edited of it, is gone. */
function requestOf(
  { id, requestId, edited }: DeliveryRow,
  requests: Map<string, RequestRow>,
  edits: Map<string, EditedFields>,
): RequestRow | undefined {
  const request = requests.get(requestId)
  const edit = edited ? edits.get(id) : null
  return request && edit !== undefined ? requestToSend(request, edit) : undefined
}

/** Reads the requests that are still stored. */
async function readRequests(
  db: Db,
  endpointId: string,
  ids: string[],
): Promise<Map<string, RequestRow>> {
  const select = async (wanted: string[], isForwarded: boolean) =>
    (await db
      .selectFrom('webhookRequest')
      .select(SELECTED_COLUMNS)
      .where('id', '=', sql<string>`any(${wanted}::uuid[])`)
      // Not both: the index of endpoints would be chosen where few of their requests are known.
      .where(isForwarded ? sql<boolean>`forwarded` : sql<boolean>`endpoint_id = ${endpointId}`)
      .execute()) as unknown as RequestRow[]
  const rows = new Map((await select(ids, true)).map((row) => [row.id, row]))
  // Requests that had no destination when they were captured are in no index.
  const others = ids.filter((id) => !rows.has(id))
  if (others.length === 0) return rows
  for (const row of await select(others, false)) rows.set(row.id, row)
  return rows
}

/** Gives claimed deliveries back that were not sent. They are held where the destination is paused. */
export async function returnDeliveries(
  db: Db,
  { id, claims }: ClaimedDestination,
  deliveryIds: string[],
): Promise<void> {
  await sql`
    update webhook_delivery v set state = case when d.state = 'active' then 'waiting' else 'held' end
    from webhook_destination d
    where d.id = ${id} and v.id = any(${deliveryIds}::uuid[]) and v.state = 'sending' and v.run = ${claims}`.execute(
    db,
  )
}

/** What an attempt changed of its delivery. */
export type DeliveryResult = {
  id: string
  state: Extract<DeliveryState, 'delivered' | 'dead' | 'unsendable' | 'waiting'>
  attempts: number
  dueAt: Date
  uncertain: boolean
  status: number | null
  error: string | null
  attempt: AttemptRow | null
}

/**
 * Stores results in one statement, except those whose delivery another claim has by now. What waits
 * for its next attempt is held where the destination is paused or off.
 */
export async function saveResults(
  db: Db,
  { id, claims }: ClaimedDestination,
  results: readonly DeliveryResult[],
): Promise<void> {
  const rows = results.map(({ attempt, ...result }) => ({
    ...result,
    ...attempt,
    ofAttempt: attempt !== null,
    id: result.id,
    status: result.status,
    error: result.error,
    attemptStatus: attempt?.status ?? null,
    attemptError: attempt?.error ?? null,
  }))
  await sql`
    with given as (
      select * from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as g (
        id uuid, state text, attempts int, "dueAt" timestamptz, uncertain boolean, status smallint, error text,
        "ofAttempt" boolean, number int, at timestamptz, "durationMs" real, "attemptStatus" smallint, kind text,
        "attemptError" text, address text, answer text, "dnsMs" real, "connectMs" real, "tlsMs" real,
        "firstByteMs" real)),
    changed as (
      update webhook_delivery d
      set state = case when g.state = 'waiting' and t.state <> 'active' then 'held' else g.state end,
        attempts = g.attempts, due_at = g."dueAt", uncertain = g.uncertain, status = g.status, error = g.error,
        ended_at = case when g.state = 'waiting' then null else now() end
      from given g, webhook_destination t
      where t.id = ${id} and d.id = g.id and d.state = 'sending' and d.run = ${claims}
      returning d.id)
    insert into webhook_attempt (delivery_id, number, at, duration_ms, status, kind, error, address, answer,
      dns_ms, connect_ms, tls_ms, first_byte_ms)
    select g.id, g.number, g.at, g."durationMs", g."attemptStatus", g.kind, g."attemptError", g.address, g.answer,
      g."dnsMs", g."connectMs", g."tlsMs", g."firstByteMs"
    from given g join changed c on c.id = g.id where g."ofAttempt"
    on conflict do nothing`.execute(db)
}

/** How many deliveries wait or are held, and the age of the oldest of them. */
export async function countOpenDeliveries(
  db: Db,
): Promise<{ state: 'waiting' | 'held'; count: number; oldestSeconds: number }[]> {
  const { rows } = await sql<{
    state: 'waiting' | 'held'
    count: number
    oldestSeconds: number
  }>`
    select s.state, count(v.id) as count,
      coalesce(extract(epoch from now() - min(v.created_at)), 0)::float8 as oldest_seconds
    from (values ('waiting'), ('held')) as s (state)
    left join webhook_delivery v on v.state in ('waiting', 'sending', 'held')
      and case v.state when 'held' then 'held' else 'waiting' end = s.state
    group by s.state`.execute(db)
  return rows
}

/** When the next delivery of a destination is due; null when none waits. */
export async function nextDueAt(db: Db, destination: ClaimedDestination): Promise<Date | null> {
  const { rows } = await sql<{ dueAt: Date }>`
    select v.due_at from webhook_delivery v
    where v.destination_id = ${destination.id} and v.state = 'waiting' and ${isFirst(destination)}
    order by v.due_at limit 1`.execute(db)
  return rows[0]?.dueAt ?? null
}

/** Whether no earlier delivery has to be sent before `v`, in the order of its destination. */
function isFirst({ orderMode }: Pick<ClaimedDestination, 'orderMode'>) {
  if (orderMode === 'none') return sql`true`
  return sql`not exists (
    select from webhook_delivery e where e.destination_id = v.destination_id
      and e.state in ('waiting', 'sending') and e.seq < v.seq
      and ${orderMode === 'strict' ? sql`true` : sql`e.order_key = v.order_key`})`
}
