import type { Kysely } from 'kysely'
import { defineJob, defineSweep, type Job } from '../jobs/job.ts'
import type { DB } from '../store/tables.ts'
import { dropOldPartitions, ensurePartitions } from './intake/partitions.ts'
import { NIGHTLY_STATEMENT_TIMEOUT_MS, withStatementTimeout } from '../store/database.ts'
import { standingOf } from './reputation/standing.ts'
import { notifyStandingsChanged } from './reputation/standings.ts'
import { listHistories, updateStanding } from './reputation/reputation.sql.ts'
import { listUncountedTokens, recountListed } from './tokens/report-tokens.sql.ts'
import { foldCounts, foldSystemCounts } from './attack-list.sql.ts'
import { DAY_MS, startOfDay } from '../time.ts'

/** The background work of attack reporting, for the queue. */
export function abuseJobs({ db }: { db: Kysely<DB> }): Job[] {
  return [retentionJob(db), standingJob(db), tokenCountsJob(db)]
}

/** Runs every night: creates partitions, drops those older than thirty days, and sums up counts. */
function retentionJob(db: Kysely<DB>): Job {
  return defineJob({
    name: 'abuse.retention',
    schedule: '41 0 * * *',
    async run(_data, { log }) {
      const now = Date.now()
      await ensurePartitions(db, now)
      const dropped = await dropOldPartitions(db, now)
      await withStatementTimeout(db, NIGHTLY_STATEMENT_TIMEOUT_MS, async (connection) => {
        await foldCounts(connection, new Date(startOfDay(now) - 8 * DAY_MS))
        await foldSystemCounts(connection, new Date(startOfDay(now)))
      })
      log.info({ dropped }, 'old reports dropped')
    },
  })
}

/** Counts the listed addresses of large tokens, one after the other. */
function tokenCountsJob(db: Kysely<DB>): Job {
  return defineSweep({
    name: 'abuse.token-counts',
    schedule: '*/10 * * * *',
    async run(_data, { signal }) {
      for (const id of await listUncountedTokens(db)) {
        if (signal.aborted) return
        await withStatementTimeout(db, NIGHTLY_STATEMENT_TIMEOUT_MS, (connection) =>
          recountListed(connection, id),
        )
      }
    },
  })
}

/** Runs every night: updates the reputation of networks. */
function standingJob(db: Kysely<DB>): Job {
  return defineJob({
    name: 'abuse.standing',
    schedule: '11 1 * * *',
    async run(_data, { log }) {
      log.info(
        { changed: await updateStandings(db, Date.now()) },
        'updated the standing of reporting networks',
      )
    },
  })
}

/**
 * Updates the reputation of all networks.
 * @returns how many changed
 */
export async function updateStandings(db: Kysely<DB>, now: number): Promise<number> {
  let changed = 0
  const histories = await withStatementTimeout(db, NIGHTLY_STATEMENT_TIMEOUT_MS, listHistories)
  for (const { network, standing, firstSeenAt, establishedAt, ...counts } of histories) {
    const times = {
      firstSeenAt: firstSeenAt.getTime(),
      establishedAt: establishedAt?.getTime() ?? null,
    }
    const earned = standingOf({ ...counts, ...times }, now)
    if (earned === standing) continue
    await updateStanding(
      db,
      network,
      earned,
      earned === 'new' ? null : (establishedAt ?? new Date(now)),
    )
    changed += 1
  }
  if (changed > 0) await notifyStandingsChanged(db)
  return changed
}
