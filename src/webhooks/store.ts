import type { Pool } from 'pg'
import type { Column } from '../store/binary-copy.ts'
import { createCopyIn } from '../store/copy-in.ts'
import { COMMIT_DEADLINE } from './limits.ts'
import type { Header } from './sender.ts'
import type { Surplus } from './surplus.ts'

/** A request as it is to be kept. */
export type CapturedRequest = {
  /** The bytes of its UUID. */
  id: Buffer
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
  /** Bytes that followed it on its connection and begin no request. */
  surplus: Surplus | null
}

/** What a row takes beside its texts and its body: its other columns, and its place in the index. */
const ROW_BYTES = 200
const HEADER_BYTES = 6

/** What counts for the account's quota. */
export function storedBytes({ path, query, headers, trailers, body }: CapturedRequest): number {
  return ROW_BYTES + path.length + query.length + bytesOfAll(headers) + bytesOfAll(trailers ?? []) + body.length
}

function bytesOfAll(headers: Header[]): number {
  let bytes = 0
  for (const [name, value] of headers) bytes += name.length + value.length + HEADER_BYTES
  return bytes
}

/** In PostgreSQL's words: what was referred to is gone (foreign_key_violation). */
const GONE = '23503'

const COLUMNS: Column<CapturedRequest>[] = [
  ['id', 'uuid', ({ id }) => id],
  ['endpoint_id', 'uuid', ({ endpointId }) => endpointId],
  ['method', 'text', ({ method }) => method],
  ['path', 'text', ({ path }) => path],
  ['query', 'text', ({ query }) => query],
  ['headers', 'json', ({ headers }) => JSON.stringify(headers)],
  ['trailers', 'json', ({ trailers }) => trailers && JSON.stringify(trailers)],
  ['ip', 'inet', ({ ip }) => ip],
  ['body', 'bytea', ({ body }) => body],
  ['body_size', 'int8', ({ bodySize }) => bodySize],
  ['content_type', 'text', ({ contentType }) => contentType],
  ['received_at', 'timestamptz', ({ receivedAt }) => receivedAt],
  ['duration_ms', 'float4', ({ durationMs }) => durationMs],
  ['http_version', 'text', ({ httpVersion }) => httpVersion],
  ['preflight', 'bool', ({ preflight }) => preflight],
  ['aborted', 'bool', ({ aborted }) => aborted],
  ['rejected', 'text', ({ rejected }) => rejected],
  ['response_status', 'int2', ({ responseStatus }) => responseStatus],
  ['stored_bytes', 'int4', storedBytes],
  ['surplus', 'json', ({ surplus }) => surplus && JSON.stringify(surplus)],
]

/**
 * What stores all of some requests, durably, or throws and has stored none, as far as it is known.
 * @returns the endpoints that exist, with their accounts; requests of others were not stored
 */
export function createInsert(pool: Pool): (rows: CapturedRequest[]) => Promise<Map<string, string>> {
  const copy = createCopyIn(pool, { table: 'webhook_request', columns: COLUMNS, deadline: COMMIT_DEADLINE })

  return async function insert(rows): Promise<Map<string, string>> {
    const counts = new Map<string, { requests: number; bytes: number }>()
    for (const row of rows) {
      const { requests, bytes } = counts.get(row.endpointId) ?? { requests: 0, bytes: 0 }
      counts.set(row.endpointId, { requests: requests + 1, bytes: bytes + storedBytes(row) })
    }
    const ids = [...counts.keys()]
    const sums = [...counts.values()]
    // Ids from the database and numbers: there is nothing in them to be escaped.
    const [which, howMany] = [ids.join(), sums.map(({ requests }) => requests).join()]
    const bytes = sums.map((sum) => sum.bytes).join()
    try {
      const counted = await copy(`select * from count_captures('{${which}}', '{${howMany}}', '{${bytes}}')`, rows)
      return new Map(counted as [string, string][])
    } catch (error) {
      if ((error as { code?: string }).code !== GONE) throw error
    }
    const left = await existing(pool, ids)
    const rest = rows.filter(({ endpointId }) => left.has(endpointId))
    return rest.length > 0 ? insert(rest) : new Map()
  }
}

/** Adds a surplus that was noticed after its request was stored. */
export async function saveSurplus(pool: Pool, { endpointId, id }: RequestKey, surplus: Surplus): Promise<void> {
  const values = [JSON.stringify(surplus), endpointId, id.toString('hex')]
  await pool.query('update webhook_request set surplus = $1 where endpoint_id = $2 and id = $3::uuid', values)
}

export type RequestKey = Pick<CapturedRequest, 'endpointId' | 'id'>

async function existing(pool: Pool, ids: string[]): Promise<Set<string>> {
  const { rows } = await pool.query<{ id: string }>('select id from webhook_endpoint where id = any ($1)', [ids])
  return new Set(rows.map(({ id }) => id))
}
