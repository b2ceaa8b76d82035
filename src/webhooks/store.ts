import type { Pool } from 'pg'
import { COMMIT_DEADLINE } from './limits.ts'
import type { Header } from './sender.ts'

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
