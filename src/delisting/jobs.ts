import { defineJob, type Job } from '../jobs/job.ts'
import { processDueSteps, type SchedulerDeps } from './scheduler.ts'

/** Every minute, and whenever a person has done something: looks at all steps that are due. */
export function delistingJob(deps: Omit<SchedulerDeps, 'log'>): Job {
  return defineJob({
    name: 'delisting.tend',
    schedule: '* * * * *',
    uniqueBy: () => 'all',
    // The next minute's is as good as another try.
    retry: { limit: 0 },
    run: (_data, { signal, log }) => processDueSteps({ ...deps, log }, signal),
  })
}
