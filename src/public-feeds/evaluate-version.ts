import type { PublicFeed } from './feed-catalogue.ts'
import type { FeedProblem } from './public-feeds.sql.ts'

/** A new version with less than half of the networks, or five times as many, is probably wrong. */
const SHRUNK_FACTOR = 2
const GROWN_FACTOR = 5

/** Networks up to which any change of size is normal. */
const SMALL = 20

/** Decides whether a new version may replace the one in use; null when it may. */
export function evaluateVersion(
  feed: Pick<PublicFeed, 'mayBeEmpty'>,
  before: number | null,
  after: number,
): FeedProblem | null {
  if (after === 0 && !feed.mayBeEmpty) return 'malformed'
  if (before === null || Math.max(before, after) <= SMALL) return null
  if (after * SHRUNK_FACTOR < before) return 'shrunk'
  return after > before * GROWN_FACTOR ? 'grown' : null
}
