import { sql, type ExpressionBuilder } from 'kysely'
import type { Pool } from 'pg'
import type { SignatureScheme } from '../protocols/webhook-signature.ts'
import type { Db } from '../store/database.ts'
import type { DB } from '../store/tables.ts'
import { COMMIT_DEADLINE, PAGE_BYTES, SEARCHED } from './limits.ts'
import type { Header } from './sender.ts'

export type EndpointRow = {
  id: string
  token: string
  label: string
  responseStatus: number
  responseBody: string
  responseType: string
  template: boolean
  cors: boolean
  timeout: number
  requestCount: number
  signature: SignatureScheme | null
  createdAt: Date
}

/** An endpoint with what only its own work may read. */
export type SealedEndpoint = EndpointRow & { signatureSecret: string | null }

export type EndpointChange = Partial<Omit<SealedEndpoint, 'id' | 'token' | 'createdAt'>>

/** A request as it is kept. */
export type CapturedRequest = {
  id: string
  endpointId: string
  method: string
  path: string
  query: string
  headers: Header[]
  trailers: Header[] | null
  ip: string
  body: Buffer
  bodySize: number
  contentType: string | null
  receivedAt: Date
  durationMs: number
  httpVersion: string
  preflight: boolean
  aborted: boolean
  rejected: string | null
  responseStatus: number | null
}

/** What is read of it again. */
export type RequestRow = Omit<CapturedRequest, 'endpointId'> & { seq: number }

export type RequestFilter = {
  since?: Date | undefined
  until?: Date | undefined
  method?: string | undefined
  path?: string | undefined
  ip?: string | undefined
  q?: string | undefined
}

export type PageOf = { order: 'asc' | 'desc'; from: number | null; limit: number }

const ENDPOINT = [
  'id',
  'token',
  'label',
  'responseStatus',
  'responseBody',
  'responseType',
  'template',
  'cors',
  'timeout',
  'requestCount',
  'signature',
  'createdAt',
] as const
const SEALED = [...ENDPOINT, 'signatureSecret'] as const

const REQUEST = [
  'seq',
  'id',
  'method',
  'path',
  'query',
  'headers',
  'trailers',
  'ip',
  'body',
  'bodySize',
  'contentType',
  'receivedAt',
  'durationMs',
  'httpVersion',
  'preflight',
  'aborted',
  'rejected',
  'responseStatus',
] as const

export async function insertEndpoint(
  db: Db,
  endpoint: EndpointChange & { accountId: string; token: string },
): Promise<EndpointRow> {
  const row = await db
    .insertInto('webhookEndpoint')
    .values(written(endpoint))
    .returning(ENDPOINT)
    .executeTakeFirstOrThrow()
  return row as EndpointRow
}

/** Oldest first. */
export async function listEndpoints(db: Db, accountId: string): Promise<EndpointRow[]> {
  const rows = await db
    .selectFrom('webhookEndpoint')
    .select(ENDPOINT)
    .where('accountId', '=', accountId)
    .orderBy('id')
    .execute()
  return rows as EndpointRow[]
}

/** Nobody adds an endpoint to this account until the transaction ends. */
export async function countEndpoints(db: Db, accountId: string): Promise<number> {
  await db.selectFrom('account').select('id').where('id', '=', accountId).forUpdate().execute()
  const { count } = await db
    .selectFrom('webhookEndpoint')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('accountId', '=', accountId)
    .executeTakeFirstOrThrow()
  return Number(count)
}

export async function findEndpoint(db: Db, accountId: string, id: string): Promise<SealedEndpoint | undefined> {
  const row = await db
    .selectFrom('webhookEndpoint')
    .select(SEALED)
    .where('id', '=', id)
    .where('accountId', '=', accountId)
    .executeTakeFirst()
  return row as SealedEndpoint | undefined
}

export async function findEndpointByToken(db: Db, token: string): Promise<SealedEndpoint | undefined> {
  const row = await db.selectFrom('webhookEndpoint').select(SEALED).where('token', '=', token).executeTakeFirst()
  return row as SealedEndpoint | undefined
}

export async function updateEndpoint(
  db: Db,
  accountId: string,
  id: string,
  change: EndpointChange,
): Promise<EndpointRow | undefined> {
  const row = await db
    .updateTable('webhookEndpoint')
    // A statement needs something to set: the id as it is changes nothing.
    .set({ id, ...written(change) })
    .where('id', '=', id)
    .where('accountId', '=', accountId)
    .returning(ENDPOINT)
    .executeTakeFirst()
  return row as EndpointRow | undefined
}

function written<T extends EndpointChange>({ signature, ...rest }: T) {
  return { ...rest, ...(signature !== undefined && { signature: signature && JSON.stringify(signature) }) }
}

/** With its requests. @returns its token */
export async function deleteEndpoint(db: Db, accountId: string, id: string): Promise<string | undefined> {
  const row = await db
    .deleteFrom('webhookEndpoint')
    .where('id', '=', id)
    .where('accountId', '=', accountId)
    .returning('token')
    .executeTakeFirst()
  return row?.token
}

/** Everything captured up to now; call it after the endpoint's row was updated in the same transaction, which holds back more. */
export async function deleteRequests(db: Db, endpointId: string): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('webhookRequest')
    .where('endpointId', '=', endpointId)
    .executeTakeFirstOrThrow()
  return Number(numDeletedRows)
}

/** Namespace of the lock behind which requests get their numbers. */
const CAPTURE_LOCK = 7_402_153

/**
 * One statement, one commit. Bodies go as one binary value, which costs a tenth of one text literal each. The lock is
 * taken when all is read, and held until the commit is visible, so that numbers never become visible out of their order;
 * holding the endpoint's row keeps it from being deleted meanwhile.
 */
const INSERT = {
  name: 'webhook-capture',
  text: `
    with incoming as materialized (
      select * from json_to_recordset($1::json) as r (
        n int, start int, kept int, id uuid, "endpointId" uuid, method text, path text, query text, headers json,
        trailers json, ip inet, "bodySize" bigint, "contentType" text, "receivedAt" float8, "durationMs" real,
        "httpVersion" text, preflight boolean, aborted boolean, rejected text, "responseStatus" smallint)
    ),
    turn as materialized (
      select pg_advisory_xact_lock(${CAPTURE_LOCK}) from (select count(*) from incoming) as all_read
    ),
    counted as (
      update webhook_endpoint e set request_count = e.request_count + c.captured
      from (select "endpointId", count(*) as captured from turn, incoming group by 1) c
      where e.id = c."endpointId" returning e.id, e.account_id
    ),
    stored as (
      insert into webhook_request (id, endpoint_id, method, path, query, headers, trailers, ip, body, body_size,
        content_type, received_at, duration_ms, http_version, preflight, aborted, rejected, response_status)
      select i.id, i."endpointId", i.method, i.path, i.query, i.headers, i.trailers, i.ip,
        substring($2::bytea from i.start + 1 for i.kept), i."bodySize", i."contentType",
        to_timestamp(i."receivedAt" / 1000), i."durationMs",
        i."httpVersion", i.preflight, i.aborted, i.rejected, i."responseStatus"
      from incoming i join counted on counted.id = i."endpointId" order by i.n
    )
    select id, account_id from counted`,
}

/**
 * Stores all of them, durably, or throws and has stored none, as far as it is known.
 * @returns the endpoints that exist, with their accounts; requests of others were not stored
 */
export async function insertRequests(pool: Pool, rows: CapturedRequest[]): Promise<Map<string, string>> {
  let start = 0
  const described = rows.map((row, n) => {
    const kept = row.body.length
    start += kept
    // Written into the JSON as if it were not there; with a Date in it, all of it would take the slow way.
    return { ...row, receivedAt: row.receivedAt.getTime(), body: undefined, n, start: start - kept, kept }
  })
  const bodies = Buffer.concat(
    rows.map(({ body }) => body),
    start,
  )
  const values = [JSON.stringify(described), bodies]
  const query = { ...INSERT, values, query_timeout: COMMIT_DEADLINE }
  const result = await pool.query<{ id: string; account_id: string }>(query)
  return new Map(result.rows.map((row) => [row.id, row.account_id]))
}

/**
 * One page, which ends before its bodies become too many bytes, but has at least one request when there is one.
 * @param page `from` is the last `seq` that was seen
 */
export async function listRequests(
  db: Db,
  endpointId: string,
  { order, from, limit }: PageOf,
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
  const count = Math.min(limit, countWithin(chosen))
  const seqs = chosen.slice(0, count).map(({ seq }) => seq)
  if (seqs.length === 0) return { rows: [], hasMore: false }
  const rows = await db
    .selectFrom('webhookRequest')
    .select(REQUEST)
    .where('endpointId', '=', endpointId)
    .where('seq', '=', sql<number>`any(${seqs})`)
    .orderBy('seq', order)
    .execute()
  return { rows: rows as unknown as RequestRow[], hasMore: count < chosen.length }
}

function countWithin(rows: { bytes: number }[]): number {
  let bytes = 0
  const beyond = rows.findIndex((row, index) => (bytes += row.bytes) > PAGE_BYTES && index > 0)
  return beyond === -1 ? rows.length : beyond
}

function conditions(eb: ExpressionBuilder<DB, 'webhookRequest'>, { since, until, method, path, ip, q }: RequestFilter) {
  return [
    ...(since ? [eb('receivedAt', '>', since)] : []),
    ...(until ? [eb('receivedAt', '<=', until)] : []),
    ...(method === undefined ? [] : [eb('method', '=', method)]),
    ...(path === undefined ? [] : [sql<boolean>`starts_with(path, ${path})`]),
    ...(ip === undefined ? [] : [eb('ip', '=', ip)]),
    ...(q === undefined ? [] : [contains(q)]),
  ]
}

/** In path, query, header values or the body's beginning, whatever the case of ASCII letters; bytes, so that a body need be no text. */
function contains(q: string) {
  const wanted = sql`lower(encode(convert_to(${q}, 'UTF8'), 'escape'))`
  return sql<boolean>`(
    position(lower(${q}) in lower(path)) > 0 or position(lower(${q}) in lower(query)) > 0
    or exists (select from json_array_elements(headers) as h where position(lower(${q}) in lower(h ->> 1)) > 0)
    or position(${wanted} in lower(encode(substring(body from 1 for ${sql.lit(SEARCHED)}), 'escape'))) > 0)`
}

export async function findRequest(db: Db, endpointId: string, id: string): Promise<RequestRow | undefined> {
  const row = await db
    .selectFrom('webhookRequest')
    .select(REQUEST)
    .where('endpointId', '=', endpointId)
    .where('id', '=', id)
    .executeTakeFirst()
  return row as unknown as RequestRow | undefined
}

/** The number of the newest; 0 when there is none. */
export async function findNewest(db: Db, endpointId: string): Promise<number> {
  const row = await db
    .selectFrom('webhookRequest')
    .select('seq')
    .where('endpointId', '=', endpointId)
    .orderBy('seq', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.seq ?? 0
}

/** The number that so many requests are newer than; null when there are not so many. */
export async function findBefore(db: Db, endpointId: string, newer: number): Promise<number | null> {
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

/** Endpoints that have more requests than are kept. */
export async function listOverfull(db: Db, kept: number): Promise<string[]> {
  const rows = await db
    .selectFrom('webhookRequest')
    .select('endpointId')
    .groupBy('endpointId')
    .having(({ fn }) => fn.countAll(), '>', kept)
    .execute()
  return rows.map(({ endpointId }) => endpointId)
}

/** An endpoint, and the number up to which its requests were deleted already. */
export type Trimmed = { endpointId: string; upTo: number }

/**
 * Deletes the oldest beyond those kept, of each of these endpoints; at most `limit`, so that no deletion takes long. What
 * was deleted lies in the index until it is vacuumed: looking through it again would cost more than all the rest.
 * @returns those of which something was deleted, and how much
 */
export async function deleteBeyond(
  db: Db,
  endpoints: Trimmed[],
  kept: number,
  limit: number,
): Promise<(Trimmed & { deleted: number })[]> {
  const ids = endpoints.map(({ endpointId }) => endpointId)
  const upTo = endpoints.map((endpoint) => endpoint.upTo)
  const { rows } = await sql<Trimmed & { deleted: number }>`
    with gone as (
      delete from webhook_request where ctid = any (array(
        select r.ctid
        from unnest(${ids}::uuid[], ${upTo}::bigint[]) as e (id, up_to)
        cross join lateral (
          select seq from webhook_request where endpoint_id = e.id and seq > e.up_to
          order by seq desc offset ${kept} limit 1) as oldest
        join webhook_request r on r.endpoint_id = e.id and r.seq > e.up_to and r.seq <= oldest.seq
        order by r.endpoint_id, r.seq
        limit ${limit} for update of r skip locked))
      returning endpoint_id, seq)
    select endpoint_id, max(seq) as up_to, count(*) as deleted from gone group by endpoint_id`.execute(db)
  return rows
}

/** Deletes what is older than this, at most `limit`. */
export async function deleteOlder(db: Db, before: Date, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from webhook_request where (endpoint_id, seq) in (
      select endpoint_id, seq from webhook_request where received_at < ${before}
      limit ${limit} for update skip locked)`.execute(db)
  return Number(numAffectedRows ?? 0)
}
