import { defineJob, type Job } from '../../jobs/job.ts'
import { MINUTE_MS } from '../../time.ts'
import { findPublicFeed } from './catalogue.ts'
import { claimDueFeed } from './store.ts'
import { updateFeed, type UpdateDeps } from './update-feed.ts'

/** Milliseconds after which another run may claim a feed: longer than its downloads can take. */
const LEASE_MS = 15 * MINUTE_MS

/** Downloads the feeds that are due, every minute, in one instance at a time. */
export function updateFeedsJob(deps: UpdateDeps): Job {
  return defineJob({
    name: 'abuse.public-feeds',
    schedule: '* * * * *',
    concurrency: 1,
    uniqueBy: () => 'all',
    deadline: 900,
    retry: { limit: 0 },
    run: (_data, { signal }) => updateDueFeeds(deps, signal),
  })
}

/** Downloads all feeds that are due, one after the other. */
export async function updateDueFeeds(deps: UpdateDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const now = deps.clock()
    const times = { now: new Date(now), leaseUntil: new Date(now + LEASE_MS) }
    const claimed = await claimDueFeed(deps.db, times)
    if (!claimed) return
    const feed = findPublicFeed(claimed.id)
    if (feed) await updateFeed(deps, feed, claimed, signal)
  }
}
