import { defineJob, type Job } from '../../jobs/job.ts'
import { checkDueNetworks, type WatchDeps } from './check-network.ts'

/** Checks watched networks that are due, in one instance at a time. */
export function checkNetworksJob(deps: WatchDeps): Job {
  return defineJob({
    name: 'abuse.watched-networks',
    schedule: '* * * * *',
    concurrency: 1,
    uniqueBy: () => 'all',
    deadline: 900,
    retry: { limit: 0 },
    async run(_data, { signal }) {
      await checkDueNetworks(deps, signal)
    },
  })
}
