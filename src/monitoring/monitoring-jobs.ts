import { defineSweep, type Job } from '../jobs/job.ts'
import type { HostCheckDeps } from './checks/deps.ts'
import { checkDueHosts } from './checks/host-sweep.ts'

/** Seconds for one sweep; the next one continues with the hosts that are left. */
const SWEEP_DEADLINE_SECONDS = 900
/** Milliseconds during which a sweep claims further hosts. */
const SWEEP_CLAIMS_FOR_MS = 600_000

/**
 * Checks all hosts that are due, every minute and after a host was added. One sweep runs in the
 * whole installation, so that the rate limit of queries holds across all instances.
 */
export function sweepJob(deps: HostCheckDeps): Job {
  return defineSweep({
    name: 'monitoring.sweep',
    schedule: '* * * * *',
    deadline: SWEEP_DEADLINE_SECONDS,
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
