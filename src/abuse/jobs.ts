import type { Kysely } from 'kysely'
import { defineJob, type Job } from '../jobs/job.ts'
import type { DB } from '../store/tables.ts'
import { dropOldPartitions, ensurePartitions } from './intake/partitions.ts'
import { deleteOldEvidence } from './federation/evidence/store.ts'
import { deleteOldJournal } from './federation/journal/store.ts'
import { deleteOldRequests } from './federation/peers/store.ts'
import { HISTORY_MS, MAX_CHANGES, MEMORY_MS } from './fleet/limits.ts'
import { deleteOldBouncers } from './fleet/crowdsec/store.ts'
import { RETENTION_MS } from './relays/limits.ts'
import { deleteOldReports } from './relays/store.ts'
import { deleteOldQuotas } from './abuseipdb/store.ts'
import { deleteReplacedVersions } from './public-feeds/store.ts'
import { HISTORY_MS as FINDINGS_MS } from './watched-networks/limits.ts'
import { deleteOldFindings } from './watched-networks/store.ts'
import { deleteOldBounces } from './abuse-mails/bounces/store.ts'
import {
  BOUNCE_DAYS,
  CONTACT_LIFETIME_MS,
  RETENTION_MS as MAIL_RETENTION_MS,
} from './abuse-mails/limits.ts'
import { deleteOldMails } from './abuse-mails/store.ts'
import { deleteOldFleetRows } from './fleet/store.ts'
import { NIGHTLY_STATEMENT_TIMEOUT_MS, withStatementTimeout } from '../store/database.ts'
import { standingOf } from './reputation/standing.ts'
import { notifyStandingsChanged } from './reputation/standings.ts'
import { listHistories, updateStanding } from './reputation/store.ts'
import { listUncountedTokens, recountListed } from './tokens/store.ts'
import { deleteOld, foldCounts, foldSystemCounts } from './store.ts'
import { DAY_MS } from '../time.ts'

/** The background work of attack reporting, for the queue. */
export function abuseJobs({ db }: { db: Kysely<DB> }): Job[] {
  return [retentionJob(db), standingJob(db), tokenCountsJob(db)]
}

/**
 * Runs every night: creates partitions, and deletes reports of more than thirty days and other old
 * rows.
 */
function retentionJob(db: Kysely<DB>): Job {
  return defineJob({
    name: 'abuse.retention',
    schedule: '41 0 * * *',
    async run(_data, { log }) {
      const now = Date.now()
      await ensurePartitions(db, now)
      const dropped = await dropOldPartitions(db, now)
      const ago = (days: number) => new Date(now - days * DAY_MS)
      const limits = { rates: ago(2), month: ago(30), quarter: ago(90), halfYear: ago(180) }
      await withStatementTimeout(db, NIGHTLY_STATEMENT_TIMEOUT_MS, async (connection) => {
        await deleteOld(connection, limits)
        await deleteOldFleetRows(connection, {
          before: new Date(now - MEMORY_MS),
          historyBefore: new Date(now - HISTORY_MS),
          maxChanges: MAX_CHANGES,
        })
        await deleteOldBouncers(connection, limits.month)
        await deleteOldQuotas(connection, limits.rates)
        await deleteReplacedVersions(connection, new Date(now))
        await deleteOldFindings(connection, new Date(now - FINDINGS_MS))
        await deleteOldMails(connection, {
          before: new Date(now - MAIL_RETENTION_MS),
          contactsBefore: new Date(now - CONTACT_LIFETIME_MS),
        })
        await deleteOldBounces(connection, ago(BOUNCE_DAYS))
        await deleteOldReports(connection, new Date(now - RETENTION_MS))
        await deleteOldJournal(connection, limits.month)
        await deleteOldEvidence(connection, limits.month)
        await deleteOldRequests(connection, limits.month)
        await foldCounts(connection, new Date(Math.floor(now / DAY_MS) * DAY_MS - 8 * DAY_MS))
        await foldSystemCounts(connection, new Date(Math.floor(now / DAY_MS) * DAY_MS))
      })
      log.info({ dropped }, 'old reports dropped')
    },
  })
}

/** Counts the listed addresses of large tokens, one after the other. */
function tokenCountsJob(db: Kysely<DB>): Job {
  return defineJob({
    name: 'abuse.token-counts',
    schedule: '*/10 * * * *',
    concurrency: 1,
    uniqueBy: () => 'all',
    retry: { limit: 0 },
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
