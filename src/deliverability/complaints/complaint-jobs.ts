import type { Kysely } from 'kysely'
import { defineSweep, type Job } from '../../jobs/job.ts'
import type { DB } from '../../store/tables.ts'
import { RATED_WITHIN_DAYS } from '../limits.ts'
import { forgetSpamRates, recordSpamRate } from '../spam-rates/record-spam-rate.ts'
import { recentRate } from './complaint-rates.ts'
import { listRatedDomains } from './complaints.sql.ts'
import { FEEDBACK_LOOPS } from './feedback-loops.ts'
import { findProviders } from './find-providers.ts'
import { describeBasis } from './messages.ts'

/** Raises alerts about domains whose share of complaints reached a limit, every hour. */
export function complaintRatesJob({ db }: { db: Kysely<DB> }): Job {
  return defineSweep({
    name: 'deliverability.complaint-rates',
    schedule: '29 * * * *',
    async run(_data, { signal }) {
      for (const { workspaceId, domain } of await listRatedDomains(db, RATED_WITHIN_DAYS)) {
        if (signal.aborted) return
        const filter = { workspaceId, domain, days: RATED_WITHIN_DAYS }
        for (const { provider, name, days } of await findProviders(db, filter, new Date())) {
          const rate = recentRate(days)
          if (rate === null || !FEEDBACK_LOOPS.some(({ id }) => id === provider)) continue
          await recordSpamRate(db, {
            ...rate,
            workspaceId,
            domain,
            provider: provider as string,
            providerName: name,
            basis: describeBasis(rate),
          })
        }
      }
      await forgetSpamRates(db)
    },
  })
}
