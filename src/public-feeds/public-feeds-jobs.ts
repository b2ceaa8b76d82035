import { defineJob, defineSweep, type Job } from '../jobs/job.ts'
import { NIGHTLY_STATEMENT_TIMEOUT_MS, withStatementTimeout } from '../store/database.ts'
import { findPublicFeed } from './feed-catalogue.ts'
import { claimDueFeed, deleteReplacedVersions } from './public-feeds.sql.ts'
import { updateFeed, type UpdateDeps } from './update-feed.ts'

/** Downloads the feeds that are due, every minute, in one instance at a time. */
export function updateFeedsJob(deps: UpdateDeps): Job {
  return defineSweep({
    name: 'abuse.public-feeds',
    schedule: '* * * * *',
    run: (_data, { signal }) => updateDueFeeds(deps, signal),
  })
}

/** Downloads all feeds that are due, one after the other. */
async function updateDueFeeds(deps: UpdateDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const claimed = await claimDueFeed(deps.db, new Date(deps.clock()))
    if (!claimed) return
    const feed = findPublicFeed(claimed.id)
    if (feed) await updateFeed(deps, feed, claimed, signal)
  }
}

/** Deletes every night what no client can still be updated from. */
export function trimFeedsJob({ db }: Pick<UpdateDeps, 'db'>): Job {
  return defineJob({
    name: 'public-feeds.retention',
    schedule: '43 0 * * *',
    run: () =>
      withStatementTimeout(db, NIGHTLY_STATEMENT_TIMEOUT_MS, (connection) =>
        deleteReplacedVersions(connection, new Date()),
      ),
  })
}
