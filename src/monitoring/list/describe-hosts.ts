import type { Kysely } from 'kysely'
import type { Static } from 'typebox'
import type { DB } from '../../store/tables.ts'
import { createSummarizer, type HostSummary } from '../history/summaries.ts'
import type { MonitoredHost } from '../shapes.ts'
import { readHosts } from './host-list.sql.ts'

type ListedHost = Omit<Static<typeof MonitoredHost>, keyof HostSummary>

/** Hosts in the shape of the API, in this order. */
export async function describeHosts(
  db: Kysely<DB>,
  ids: string[],
): Promise<(ListedHost & HostSummary)[]> {
  const summaryOf = createSummarizer(new Date())
  const rows = await readHosts(db, ids)
  return rows.map((row) => ({ ...(JSON.parse(row.json) as ListedHost), ...summaryOf(row) }))
}
