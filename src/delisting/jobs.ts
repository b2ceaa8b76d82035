import { defineJob, type Job } from '../jobs/job.ts'
import { tend, type TendDeps } from './tend.ts'

/** Every minute, and whenever a person has done something: looks at all steps that are due. */
export function delistingJob(deps: Omit<TendDeps, 'log'>): Job {
  return defineJob({
    name: 'delisting.tend',
    schedule: '* * * * *',
    uniqueBy: () => 'all',
    // The next minute's is as good as another try.
    retry: { limit: 0 },
    run: (_data, { signal, log }) => tend({ ...deps, log }, signal),
  })
}
