import { defineSweep, type Job } from '../../jobs/job.ts'
import { checkDueNetworks, type WatchDeps } from './check-network.ts'

/** Checks watched networks that are due, in one instance at a time. */
export function checkNetworksJob(deps: WatchDeps): Job {
  return defineSweep({
    name: 'abuse.watched-networks',
    schedule: '* * * * *',
    async run(_data, { signal }) {
      await checkDueNetworks(deps, signal)
    },
  })
}
