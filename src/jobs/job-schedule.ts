import type { PgBoss } from 'pg-boss'
import { placeOf, type Job } from './job.ts'

/**
 * Sets the schedules of this version in the database. pg-boss enqueues from them, once over all
 * instances.
 */
export async function setSchedules(boss: PgBoss, jobs: Job[]): Promise<void> {
  for (const job of jobs) {
    if (job.schedule)
      await boss.schedule(
        job.name,
        job.schedule,
        {},
        { tz: 'UTC', missed: 'once', ...placeOf(job, {}) },
      )
  }
  const ours = new Set(jobs.filter((job) => job.schedule).map((job) => job.name))
  for (const { name } of await boss.getSchedules()) if (!ours.has(name)) await boss.unschedule(name)
}
