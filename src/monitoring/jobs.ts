import type { Kysely } from 'kysely'
import { defineJob, type Job } from '../jobs/job.ts'
import type { DB } from '../store/tables.ts'
import type { HostCheckDeps } from './checks/deps.ts'
import { checkDueHosts } from './checks/sweep.ts'
import { deleteEventsBefore } from './history/store.ts'
import { HISTORY_RETENTION_MS } from './limits.ts'

/** Seconds for one sweep; the next one continues with the hosts that are left. */
const SWEEP_DEADLINE_SECONDS = 900
/** Milliseconds during which a sweep claims further hosts. */
const SWEEP_CLAIMS_FOR_MS = 600_000

/**
 * Checks all hosts that are due, every minute and after a host was added. One sweep runs in the
 * whole installation, so that the rate limit of queries holds across all instances.
 */
export function sweepJob(deps: HostCheckDeps): Job {
  return defineJob({
    name: 'monitoring.sweep',
    schedule: '* * * * *',
    concurrency: 1,
    uniqueBy: () => 'all',
    deadline: SWEEP_DEADLINE_SECONDS,
    retry: { limit: 0 },
    async run(_data, { signal, log, inWorkspace }) {
      const checked = await checkDueHosts(
        { ...deps, log },
        { signal, inWorkspace },
        performance.now() + SWEEP_CLAIMS_FOR_MS,
      )
      if (checked > 0) log.debug({ checked }, 'hosts checked')
    },
  })
}

export function cleanUpHostsJob({ db }: { db: Kysely<DB> }): Job {
  return defineJob({
    name: 'monitoring.clean-up',
    schedule: '37 3 * * *',
    async run(_data, { log }) {
      const deleted = await deleteEventsBefore(db, new Date(Date.now() - HISTORY_RETENTION_MS))
      if (deleted > 0) log.info({ deleted }, 'old history deleted')
    },
  })
}
