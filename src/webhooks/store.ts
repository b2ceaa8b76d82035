import type { Pool } from 'pg'
import { binaryRows, oidOf, type Attribute } from '../store/binary-rows.ts'
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
 * One statement, one commit. The lock is held until the commit is visible, so that numbers never become visible out of their
 * order; holding the endpoint's row keeps it from being deleted meanwhile.
 */
const INSERT = {
  name: 'webhook-capture',
  text: `
    with turn as materialized (
      select pg_advisory_xact_lock(${CAPTURE_LOCK})
    ),
    counted as (
      update webhook_endpoint e set request_count = e.request_count + c.captured
      from turn, unnest($2::uuid[], $3::int[]) as c (id, captured)
      where e.id = c.id returning e.id, e.account_id
    ),
    stored as (
      insert into webhook_request (id, endpoint_id, method, path, query, headers, trailers, ip, body, body_size,
        content_type, received_at, duration_ms, http_version, preflight, aborted, rejected, response_status)
      select id::uuid, endpoint_id::uuid, method, path, query, headers, trailers, ip::inet, body, body_size,
        content_type, to_timestamp(received_at / 1000), duration_ms, http_version, preflight, aborted, rejected,
        response_status
      from unnest($1::captured_request[]) where endpoint_id::uuid = any (array(select id from counted))
    )
    select id, account_id from counted`,
}

/** The attributes of captured_request, in their order. */
const ATTRIBUTES: Attribute<CapturedRequest>[] = [
  ['text', ({ id }) => id],
  ['text', ({ endpointId }) => endpointId],
  ['text', ({ method }) => method],
  ['text', ({ path }) => path],
  ['text', ({ query }) => query],
  ['json', ({ headers }) => JSON.stringify(headers)],
  ['json', ({ trailers }) => trailers && JSON.stringify(trailers)],
  ['text', ({ ip }) => ip],
  ['bytea', ({ body }) => body],
  ['float8', ({ bodySize }) => bodySize],
  ['text', ({ contentType }) => contentType],
  ['float8', ({ receivedAt }) => receivedAt.getTime()],
  ['float8', ({ durationMs }) => durationMs],
  ['text', ({ httpVersion }) => httpVersion],
  ['bool', ({ preflight }) => preflight],
  ['bool', ({ aborted }) => aborted],
  ['text', ({ rejected }) => rejected],
  ['float8', ({ responseStatus }) => responseStatus],
]

/**
 * What stores all of some requests, durably, or throws and has stored none, as far as it is known.
 * @returns the endpoints that exist, with their accounts; requests of others were not stored
 */
export function createInsert(pool: Pool): (rows: CapturedRequest[]) => Promise<Map<string, string>> {
  let rowType: number | undefined

  return async (rows) => {
    try {
      rowType ??= await oidOf(pool, 'captured_request')
      const counts = new Map<string, number>()
      for (const { endpointId } of rows) counts.set(endpointId, (counts.get(endpointId) ?? 0) + 1)
      const values = [binaryRows(rowType, ATTRIBUTES, rows), [...counts.keys()], [...counts.values()]]
      const query = { ...INSERT, values, query_timeout: COMMIT_DEADLINE }
      const result = await pool.query<{ id: string; account_id: string }>(query)
      return new Map(result.rows.map((row) => [row.id, row.account_id]))
    } catch (error) {
      // A database that was restored from a dump meanwhile has another.
      rowType = undefined
      throw error
    }
  }
}
