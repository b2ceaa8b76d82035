import type { Kysely } from 'kysely'
import { NIGHTLY_STATEMENT_TIMEOUT_MS, withStatementTimeout } from '../store/database.ts'
import { deleteExpired, type Retention } from '../store/retention.ts'
import type { DB } from '../store/tables.ts'
import { HOUR_SECONDS } from '../time.ts'
import { defineSweep, type Job } from './job.ts'

/**
 * Deletes the rows of all modules whose time has passed: every night, and every hour those that are
 * kept for less than a day.
 */
export function retentionJobs(db: Kysely<DB>, retention: Retention[]): Job[] {
  const brief = retention.filter(({ days }) => days < 1)
  return [
    retentionJob(db, { name: 'service.retention', schedule: '17 3 * * *', retention }),
    retentionJob(db, { name: 'service.retention-brief', schedule: '47 * * * *', retention: brief }),
  ]
}

type Options = { name: string; schedule: string; retention: Retention[] }

function retentionJob(db: Kysely<DB>, { name, schedule, retention }: Options): Job {
  return defineSweep({
    name,
    schedule,
    deadline: HOUR_SECONDS,
    async run(_data, { signal, log }) {
      const errors: unknown[] = []
      for (const one of retention) {
        if (signal.aborted) return
        await withStatementTimeout(db, NIGHTLY_STATEMENT_TIMEOUT_MS, async (connection) => {
          const deleted = await deleteExpired(connection, one, signal)
          if (deleted > 0) log.info({ table: one.table, deleted }, 'expired rows deleted')
          // What fails for one table must not keep the rows of the others.
        }).catch((error: unknown) => errors.push(error))
      }
      if (errors.length > 0) throw errors[0]
    },
  })
}
