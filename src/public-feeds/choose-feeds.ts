import { Fault } from '../errors.ts'
import type { Db } from '../store/database.ts'
import { findPublicFeed } from './feed-catalogue.ts'
import { listFeeds } from './public-feeds.sql.ts'

/**
 * Requires that an administrator has enabled these feeds.
 * @throws Fault `invalid_request`
 */
export async function requireEnabled(db: Db, ids: readonly string[]): Promise<void> {
  const enabled = new Set((await listFeeds(db)).filter((row) => row.enabled).map(({ id }) => id))
  const missing = ids.find((id) => !enabled.has(id))
  if (missing === undefined) return
  const message = findPublicFeed(missing)
    ? `“${missing}” is not enabled; an administrator enables public feeds`
    : `“${missing}” is not a public feed; GET /api/v1/abuse/feeds lists them`
  throw new Fault('invalid_request', `${message}.`, { details: [{ path: 'feeds', message }] })
}
