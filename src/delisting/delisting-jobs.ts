import { defineJob, type Job } from '../jobs/job.ts'
import { processDueSteps, type SchedulerDeps } from './delisting-scheduler.ts'

/** Processes due steps every minute and after each action of a user. */
export function delistingJob(deps: Omit<SchedulerDeps, 'log'>): Job {
  return defineJob({
    name: 'delisting.tend',
    schedule: '* * * * *',
    uniqueBy: () => 'all',
    // The run of the next minute serves as the retry.
    retry: { limit: 0 },
    run: (_data, { log, ...context }) => processDueSteps({ ...deps, log }, context),
  })
}
