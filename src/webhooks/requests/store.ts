import { sql, type ExpressionBuilder } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { SEARCHED } from '../limits.ts'
import { deleteCounted } from '../retention/store.ts'
import type { CapturedRequest } from '../store.ts'

/** A captured request as it is read again. */
export type RequestRow = Omit<CapturedRequest, 'id' | 'endpointId'> & { seq: number; id: string }

export type RequestFilter = {
  since?: Date | undefined
  until?: Date | undefined
  method?: string | undefined
  path?: string | undefined
  ip?: string | undefined
  q?: string | undefined
}

export type PageOf = { order: 'asc' | 'desc'; from: number | null; limit: number; maxBytes: number }

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
  'surplus',
] as const

/**
 * One page, which ends before its bodies become too many bytes, but has at least one request when there is one.
 * @param page `from` is the last `seq` that was seen
 */
export async function listRequests(
  db: Db,
  endpointId: string,
  { order, from, limit, maxBytes }: PageOf,
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
    .select(REQUEST)
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
  return (await findBefore(db, endpointId, 0)) ?? 0
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

/** Everything captured up to now; call it after the endpoint's row was updated in the same transaction, which holds back more. */
export async function deleteRequests(db: Db, endpointId: string): Promise<number> {
  await sql`select take_turn_deleting_requests()`.execute(db)
  const [{ deleted } = { deleted: 0 }] = await deleteCounted(db, sql`endpoint_id = ${endpointId}`)
  return deleted
}
