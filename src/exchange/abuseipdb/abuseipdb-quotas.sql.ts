import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_MS, isoDay } from '../../time.ts'
import type { Counter } from './quota-counter.ts'

export type ReportedAddress = {
  address: string
  score: number
  totalReports: number
  lastReportedAt: Date
}

/** Addresses in a network that were reported since a time, worst first. */
export async function listReportedIn(
  db: Db,
  network: string,
  { since, limit }: { since: Date; limit: number },
): Promise<ReportedAddress[]> {
  const { rows } = await sql<ReportedAddress>`
    select address, score, total_reports, last_reported_at from abuse_address
    where address <<= ${network}::inet and last_reported_at >= ${since} and state <> 'whitelisted'
    order by score desc, address limit ${limit}`.execute(db)
  return rows
}

/**
 * Adds requests to the counts of a day.
 * @returns the counts of all instances; none for a token that was revoked
 */
export async function addToQuotas(
  db: Db,
  requests: [Counter, number][],
): Promise<Map<Counter, number>> {
  const rows = requests.map(([{ tokenId, endpoint, day }, count], index) => ({
    index,
    tokenId,
    endpoint,
    day: isoDay(day * DAY_MS),
    count,
  }))
  const { rows: totals } = await sql<{ index: number; requests: number }>`
    with given as (
      select g.* from json_to_recordset(${JSON.stringify(rows)}::json)
        as g (index integer, "tokenId" uuid, endpoint text, day date, count integer)
      join abuse_token t on t.id = g."tokenId"
    ),
    counted as (
      insert into abuse_quota as known (token_id, endpoint, day, requests)
      select "tokenId", endpoint, day, count from given order by "tokenId", endpoint, day
      on conflict (token_id, endpoint, day) do update set requests = known.requests + excluded.requests
      returning token_id, endpoint, day, requests
    )
    select given.index, counted.requests from counted
    join given on given."tokenId" = counted.token_id and given.endpoint = counted.endpoint
      and given.day = counted.day`.execute(db)
  const counters = requests.map(([counter]) => counter)
  return new Map(
    totals.flatMap(({ index, requests: total }) => {
      const counter = counters[index]
      return counter ? [[counter, total] as const] : []
    }),
  )
}

/** Stored reports of a token about an address, by the network they came from. */
export type OwnReports = { network: string; service: string; reports: number; counted: number }

/** Deletes the reports of a token about an address. */
export async function deleteReportsOf(
  trx: Transaction<DB>,
  { tokenId, address }: { tokenId: string; address: string },
): Promise<OwnReports[]> {
  const { rows } = await sql<OwnReports>`
    with gone as (
      delete from abuse_report where token_id = ${tokenId} and address = ${address}::inet
      returning network, service, counted
    )
    select network, service, count(*)::int as reports, (count(*) filter (where counted))::int as counted
    from gone group by network, service`.execute(trx)
  return rows
}
