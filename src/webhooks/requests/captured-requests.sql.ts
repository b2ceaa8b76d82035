import { sql, type ExpressionBuilder } from 'kysely'
import type { Pool } from 'pg'
import { createCopyIn } from '../../store/copy/copy-in.ts'
import type { Db } from '../../store/database.ts'
import { deleteRows, findRow, hasRow } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'
import type { Surplus } from '../capture/surplus.ts'
import { UNSENDABLE } from '../forwarding/unsendable.ts'
import { COMMIT_TIMEOUT_MS, REPEAT_HOURS, SEARCHED_BODY_BYTES } from '../limits.ts'
import { deleteCounted } from '../retention/capture-retention.sql.ts'
import {
  COPIED_COLUMNS,
  SELECTED_COLUMNS,
  storedBytes,
  type RequestKey,
  type RequestRow,
  type StoredCapture,
} from './captured-request.ts'

export type RequestFilter = {
  since?: Date | undefined
  until?: Date | undefined
  method?: string | undefined
  path?: string | undefined
  ip?: string | undefined
  q?: string | undefined
}

export type PageOptions = {
  order: 'asc' | 'desc'
  from: number | null
  limit: number
  maxBytes: number
}

/**
 * Lists one page. It ends early when its bodies become too large, but has at least one request if
 * there is one.
 * @param page `from` is the last `seq` that was returned
 */
export async function listRequests(
  db: Db,
  endpointId: string,
  { order, from, limit, maxBytes }: PageOptions,
  filter: RequestFilter = {},
): Promise<{ rows: RequestRow[]; hasMore: boolean }> {
  const numbered = db
    .selectFrom('webhookRequest')
    .select(['seq', sql<number>`octet_length(body)`.as('bytes')])
    .where('endpointId', '=', endpointId)
    .where((eb) => eb.and(conditions(eb, filter)))
    .$if(from !== null, (query) => query.where('seq', order === 'asc' ? '>' : '<', from))
    .orderBy('seq', order)
    .limit(limit + 1)
  const chosen = await numbered.execute()
  const count = Math.min(limit, countWithin(chosen, maxBytes))
  const seqs = chosen.slice(0, count).map(({ seq }) => seq)
  if (seqs.length === 0) return { rows: [], hasMore: false }
  const rows = await db
    .selectFrom('webhookRequest')
    .select(SELECTED_COLUMNS)
    .where('endpointId', '=', endpointId)
    .where('seq', '=', sql<number>`any(${seqs})`)
    .orderBy('seq', order)
    .execute()
  return { rows: rows as unknown as RequestRow[], hasMore: count < chosen.length }
}

function countWithin(rows: { bytes: number }[], maxBytes: number): number {
  let bytes = 0
  const beyond = rows.findIndex((row, index) => (bytes += row.bytes) > maxBytes && index > 0)
  return beyond === -1 ? rows.length : beyond
}

function conditions(
  eb: ExpressionBuilder<DB, 'webhookRequest'>,
  { since, until, method, path, ip, q }: RequestFilter,
) {
  return [
    ...(since ? [eb('receivedAt', '>', since)] : []),
    ...(until ? [eb('receivedAt', '<=', until)] : []),
    ...(method === undefined ? [] : [eb('method', '=', method)]),
    ...(path === undefined ? [] : [sql<boolean>`starts_with(path, ${path})`]),
    ...(ip === undefined ? [] : [eb('ip', '=', ip)]),
    ...(q === undefined ? [] : [matchesText(q)]),
  ]
}

/**
 * Matches the path, query, header values and beginning of the body, ignoring the case of ASCII
 * letters. Bodies are compared as bytes, because they may not be text.
 */
function matchesText(q: string) {
  const wanted = sql`lower(encode(convert_to(${q}, 'UTF8'), 'escape'))`
  return sql<boolean>`(
    position(lower(${q}) in lower(path)) > 0 or position(lower(${q}) in lower(query)) > 0
    or exists (select from json_array_elements(headers) as h where position(lower(${q}) in lower(h ->> 1)) > 0)
    or position(${wanted} in lower(encode(substring(body from 1 for ${sql.lit(SEARCHED_BODY_BYTES)}), 'escape'))) > 0)`
}

export async function findRequest(
  db: Db,
  endpointId: string,
  id: string,
): Promise<RequestRow | undefined> {
  return findRow(db, 'webhookRequest', SELECTED_COLUMNS, { endpointId, id })
}

/** Whether a request of an endpoint is still stored. */
export async function isStored(db: Db, endpointId: string, id: string): Promise<boolean> {
  return hasRow(db, 'webhookRequest', { endpointId, id })
}

/** The number of the newest request; 0 when there is none. */
export async function findNewestSeq(db: Db, endpointId: string): Promise<number> {
  return (await findSeqBefore(db, endpointId, 0)) ?? 0
}

/**
 * The number of the request that exactly this many requests are newer than; null when there are
 * fewer.
 */
export async function findSeqBefore(
  db: Db,
  endpointId: string,
  newer: number,
): Promise<number | null> {
  const row = await db
    .selectFrom('webhookRequest')
    .select('seq')
    .where('endpointId', '=', endpointId)
    .orderBy('seq', 'desc')
    .offset(newer)
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? null
}

/**
 * The number before the oldest of the newest requests after `seq`. Deleted requests stay in the index
 * for a while, and finding it from the newest one passes none of them.
 * @param newest number of requests
 */
export async function findStart(
  db: Db,
  endpointId: string,
  seq: number,
  newest: number,
): Promise<number> {
  const { rows } = await sql<{ first: number | null }>`
    select min(seq) as first from (
      select seq from webhook_request where endpoint_id = ${endpointId} and seq > ${seq}
      order by seq desc limit ${newest}) kept`.execute(db)
  const [{ first } = { first: null }] = rows
  return first === null ? seq : first - 1
}

/**
 * Deletes all requests captured so far. Call it after the endpoint’s row was updated in the same
 * transaction, which locks out new ones.
 */
export async function deleteRequests(db: Db, endpointId: string): Promise<number> {
  await sql`select take_turn_deleting_requests()`.execute(db)
  await deleteRows(db, 'webhookRepeat', { endpointId })
  const [{ deleted } = { deleted: 0 }] = await deleteCounted(db, sql`endpoint_id = ${endpointId}`)
  return deleted
}

/** The SQLSTATE of a foreign_key_violation: an endpoint was deleted meanwhile. */
const FOREIGN_KEY_VIOLATION = '23503'

/**
 * Creates the function that stores a batch of requests durably with one COPY. When it throws, none
 * of them is known to be stored.
 * @returns a function that returns the endpoints that exist, with their workspaces; requests of
 *   others were not stored
 */
export function createRequestInsert(
  pool: Pool,
): (rows: StoredCapture[]) => Promise<Map<string, string>> {
  const copy = createCopyIn<StoredCapture>(pool, {
    table: 'webhook_request',
    columns: COPIED_COLUMNS,
    deadline: COMMIT_TIMEOUT_MS,
  })

  return async function insert(rows): Promise<Map<string, string>> {
    const counts = new Map<string, { requests: number; bytes: number }>()
    for (const row of rows) {
      const { requests, bytes } = counts.get(row.endpointId) ?? { requests: 0, bytes: 0 }
      counts.set(row.endpointId, { requests: requests + 1, bytes: bytes + storedBytes(row) })
    }
    const ids = [...counts.keys()]
    const sums = [...counts.values()]
    // Ids from the database and numbers need no escaping.
    const [endpointIds, requestCounts] = [ids.join(), sums.map(({ requests }) => requests).join()]
    const bytes = sums.map((sum) => sum.bytes).join()
    try {
      const counted = await copy(
        `select * from count_captures('{${endpointIds}}', '{${requestCounts}}', '{${bytes}}')
          ${insertRepeatKeys(rows)}${insertDeliveries(rows)}`,
        rows,
        markRepeats(rows),
      )
      return new Map(counted as [string, string][])
    } catch (error) {
      if ((error as { code?: string }).code !== FOREIGN_KEY_VIOLATION) throw error
    }
    const existing = await findExistingEndpoints(pool, ids)
    const remaining = rows.filter(({ endpointId }) => existing.has(endpointId))
    return remaining.length > 0 ? insert(remaining) : new Map()
  }
}

const UNSENDABLE_ERRORS = Object.entries(UNSENDABLE)
  .map(([reason, sentence]) => `when u.unsendable = '${reason}' then '${sentence}'`)
  .join(' ')

/**
 * The statement that stores the deliveries of requests; nothing where there are none. Ids, hashes and
 * numbers need no escaping. A destination that was deleted meanwhile gets none.
 */
function insertDeliveries(rows: StoredCapture[]): string {
  const all = rows.flatMap(({ id, body, repeatKey, deliveries = [] }) =>
    deliveries.map((delivery) => ({ ...delivery, requestId: id, bytes: body.length, repeatKey })),
  )
  if (all.length === 0) return ''
  const columns = [
    listOf(
      all.map(({ destinationId }) => destinationId),
      'uuid',
    ),
    listOf(
      all.map(({ requestId }) => requestId.toString('hex')),
      'uuid',
    ),
    listOf(
      all.map(({ orderKey }) => orderKey ?? 'null'),
      'text',
    ),
    listOf(
      all.map(({ bytes }) => bytes),
      'int',
    ),
    listOf(
      all.map(({ unsendable }) => unsendable ?? 'null'),
      'text',
    ),
    listOf(
      all.map(({ repeatKey }) => repeatKey ?? 'null'),
      'uuid',
    ),
  ]
  return `; insert into webhook_delivery (destination_id, endpoint_id, request_id, order_key, bytes, state, ended_at, error)
    select d.id, d.endpoint_id, u.request_id, u.order_key, u.bytes,
      case when u.unsendable is not null then 'unsendable' when p.key is not null then 'cancelled'
        when not d.accepting then 'dropped' when d.state = 'active' then 'waiting' else 'held' end,
      case when u.unsendable is not null or p.key is not null or not d.accepting then now() end,
      case ${UNSENDABLE_ERRORS} when p.key is not null then '${REPEAT_SKIPPED}' end
    from unnest(${columns.join()}) with ordinality
      as u (destination_id, request_id, order_key, bytes, unsendable, repeat_key, place)
    join webhook_destination d on d.id = u.destination_id
    left join webhook_repeat p on d.skip_repeats and p.endpoint_id = d.endpoint_id and p.key = u.repeat_key
      and p.request_id <> u.request_id
    order by u.place`
}

/** A list of values that need no escaping. */
function listOf(values: (string | number)[], type: string): string {
  return `'{${values.join()}}'::${type}[]`
}

const REPEAT_SKIPPED = 'It repeats an earlier request, which this destination leaves out.'

/** The keys of requests, in the order in which they arrived. */
function repeatKeysOf(rows: StoredCapture[]): string {
  const keyed = rows.filter(({ repeatKey }) => repeatKey)
  if (keyed.length === 0) return ''
  const columns = [
    keyed.map(({ endpointId }) => endpointId),
    keyed.map(({ repeatKey }) => repeatKey ?? ''),
    keyed.map(({ id }) => id.toString('hex')),
  ]
  const lists = columns.map((values) => listOf(values, 'uuid')).join()
  return `unnest(${lists}) with ordinality as u (endpoint_id, key, request_id, place)`
}

/**
 * The statement that stores which request was the first with its key, within REPEAT_HOURS.
 */
function insertRepeatKeys(rows: StoredCapture[]): string {
  const keys = repeatKeysOf(rows)
  if (keys === '') return ''
  return `; insert into webhook_repeat as p (endpoint_id, key, request_id)
    select distinct on (u.endpoint_id, u.key) u.endpoint_id, u.key, u.request_id from ${keys}
    order by u.endpoint_id, u.key, u.place
    on conflict (endpoint_id, key) do update set request_id = excluded.request_id, at = excluded.at
    where p.at < now() - interval '${REPEAT_HOURS} hours'`
}

/** The statement that marks requests that are not the first with their key. */
function markRepeats(rows: StoredCapture[]): string {
  const keys = repeatKeysOf(rows)
  if (keys === '') return ''
  return `update webhook_request r set repeat_of = p.request_id
    from ${keys} join webhook_repeat p on p.endpoint_id = u.endpoint_id and p.key = u.key
    where p.request_id <> u.request_id and r.endpoint_id = u.endpoint_id and r.id = u.request_id`
}

/** Adds surplus bytes that were detected after their request was stored. */
export async function saveSurplus(
  pool: Pool,
  { endpointId, id }: RequestKey,
  surplus: Surplus,
): Promise<void> {
  const values = [JSON.stringify(surplus), endpointId, id.toString('hex')]
  await pool.query(
    'update webhook_request set surplus = $1 where endpoint_id = $2 and id = $3::uuid',
    values,
  )
}

async function findExistingEndpoints(pool: Pool, ids: string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>(
    'select id from webhook_endpoint where id = any ($1)',
    [ids],
  )
  return new Set(rows.map(({ id }) => id))
}
