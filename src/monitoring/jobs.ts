import type { Kysely } from 'kysely'
import { defineJob, type Job } from '../jobs/job.ts'
import type { DB } from '../store/tables.ts'
import { deleteEventsBefore } from './history/store.ts'
import { EVENTS_KEPT } from './limits.ts'
import type { LookDeps } from './looks/look.ts'
import { sweepDue } from './looks/sweep.ts'

/** Seconds of one sweep, after which the next goes on where it was. */
const SWEEP_DEADLINE = 900
const SWEEP_TAKES_MORE = 600_000

/**
 * Looks at all hosts that are due; every minute, and when one was added. One in the whole installation, so that the
 * questions to one list keep their distance over all instances.
 */
export function sweepJob(deps: LookDeps): Job {
  return defineJob({
    name: 'monitoring.sweep',
    schedule: '* * * * *',
    concurrency: 1,
    uniqueBy: () => 'all',
    deadline: SWEEP_DEADLINE,
    retry: { limit: 0 },
    async run(_data, { signal, log }) {
      const looked = await sweepDue({ ...deps, log }, signal, performance.now() + SWEEP_TAKES_MORE)
      if (looked > 0) log.debug({ looked }, 'hosts looked at')
    },
  })
}

export function cleanUpJob({ db }: { db: Kysely<DB> }): Job {
  return defineJob({
    name: 'monitoring.clean-up',
    schedule: '37 3 * * *',
    async run(_data, { log }) {
      const deleted = await deleteEventsBefore(db, new Date(Date.now() - EVENTS_KEPT))
      if (deleted > 0) log.info({ deleted }, 'old history deleted')
    },
  })
}
