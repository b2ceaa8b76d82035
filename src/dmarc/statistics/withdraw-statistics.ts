import type { Kysely, Transaction } from 'kysely'
import type { AggregateRecord } from '../../protocols/reports/aggregate-report.ts'
import type { DB } from '../../store/tables.ts'
import { createStatistics, type CountedReport } from './statistics.ts'
import { createSelectors } from './selectors.ts'
import {
  deleteReports,
  findPart,
  lockReportsBefore,
  subtractSums,
  type StoredReport,
} from './dmarc-statistics.sql.ts'
import { createTallies } from './tally.ts'

/**
 * Deletes reports received before a time, oldest first, and subtracts their counts from the
 * statistics, in one transaction.
 * @returns the number of deleted reports; 0 if none is left
 */
export async function withdrawReports(
  db: Kysely<DB>,
  before: Date,
  limit: number,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const reports = await lockReportsBefore(trx, before, limit)
    if (reports.length === 0) return 0
    const statistics = createStatistics()
    for (const report of reports)
      statistics.add(report.domainId, report.domain, await recountReport(trx, report))
    await subtractSums(trx, statistics.all())
    await deleteReports(
      trx,
      reports.map(({ id }) => id),
    )
    return reports.length
  })
}

/** Counts a stored report again, as when it arrived. */
export async function recountReport(
  trx: Transaction<DB>,
  { id, orgName, begin, end, selectorsByDay }: StoredReport,
): Promise<CountedReport> {
  const tallies = createTallies()
  const selectors = createSelectors()
  for (let part = 0; ; part++) {
    const records = await findPart<AggregateRecord>(trx, id, part)
    if (!records) break
    for (const record of records) {
      tallies.add(record)
      selectors.add(record)
    }
  }
  return {
    report: { orgName, dateRange: { begin, end } },
    tallies: tallies.all(),
    selectors: selectors.all(),
    selectorsByDay,
  }
}
