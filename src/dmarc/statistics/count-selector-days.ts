import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { createStatistics } from './statistics.ts'
import {
  addSelectorDays,
  lockReportsWithoutDays,
  markCountedByDay,
} from './dmarc-statistics.sql.ts'
import { recountReport } from './withdraw-statistics.ts'

/**
 * Counts the DKIM selectors of reports by day that an earlier version has stored.
 * @returns the number of reports; 0 if none is left
 */
export async function countSelectorDays(db: Kysely<DB>, limit: number): Promise<number> {
  return db.transaction().execute(async (trx) => {
    const reports = await lockReportsWithoutDays(trx, limit)
    if (reports.length === 0) return 0
    const statistics = createStatistics()
    for (const report of reports) {
      const counted = await recountReport(trx, report)
      statistics.add(report.domainId, report.domain, { ...counted, selectorsByDay: true })
    }
    const { selectorDays } = statistics.all()
    if (selectorDays.length > 0) await addSelectorDays(trx, selectorDays)
    await markCountedByDay(
      trx,
      reports.map(({ id }) => id),
    )
    return reports.length
  })
}
