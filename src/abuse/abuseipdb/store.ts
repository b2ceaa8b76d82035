import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'

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
