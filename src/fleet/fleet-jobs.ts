import type { Kysely } from 'kysely'
import { defineJob, type Job } from '../jobs/job.ts'
import { NIGHTLY_STATEMENT_TIMEOUT_MS, withStatementTimeout } from '../store/database.ts'
import type { DB } from '../store/tables.ts'
import { trimFleets } from './fleet.sql.ts'
import { HISTORY_MS, MAX_CHANGES, MEMORY_MS } from './limits.ts'

/** Deletes every night changes that followers have got, and servers that are gone. */
export function trimFleetsJob(db: Kysely<DB>): Job {
  return defineJob({
    name: 'fleet.retention',
    schedule: '42 0 * * *',
    async run() {
      const now = Date.now()
      await withStatementTimeout(db, NIGHTLY_STATEMENT_TIMEOUT_MS, (connection) =>
        trimFleets(connection, {
          seenBefore: new Date(now - MEMORY_MS),
          changedBefore: new Date(now - HISTORY_MS),
          maxChanges: MAX_CHANGES,
        }),
      )
    },
  })
}
