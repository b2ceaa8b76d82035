import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../errors.ts'
import { ADMINISTRATORS, EVERYONE, notifyChange } from '../store/changes.ts'
import { notify } from '../store/notifications.ts'
import type { DB } from '../store/tables.ts'
import { findPublicFeed } from './feed-catalogue.ts'
import { reportProblemChange } from './report-problem.ts'
import { acceptHeld, listFeeds, setEnabled } from './public-feeds.sql.ts'
import { FEEDS_CHANGED } from './update-feed.ts'

/** Enables a feed for the whole installation, or disables it and deletes its networks. */
export async function enableFeed(
  db: Kysely<DB>,
  id: string,
  enabled: boolean,
  now: number,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await setEnabled(trx, id, enabled, new Date(now))
    if (!enabled) await resolveProblem(trx, id, now)
    await notifyFeedChanged(trx, id)
  })
}

/**
 * Uses the version that is held back.
 * @throws Fault `conflict` when there is none
 */
export async function acceptHeldVersion(db: Kysely<DB>, id: string, now: number): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await resolveProblem(trx, id, now)
    if (!(await acceptHeld(trx, id, new Date(now))))
      throw new Fault('conflict', 'No version of this feed is held back.')
    await notifyFeedChanged(trx, id)
  })
}

async function resolveProblem(trx: Transaction<DB>, id: string, now: number): Promise<void> {
  const feed = findPublicFeed(id)
  const row = (await listFeeds(trx)).find((one) => one.id === id)
  const before = { problem: row?.problem ?? ('outdated' as const) }
  if (feed)
    await reportProblemChange(trx, feed, before, { problem: null, problemText: '' }, new Date(now))
}

async function notifyFeedChanged(trx: Transaction<DB>, id: string): Promise<void> {
  await notify(trx, FEEDS_CHANGED, id)
  await notifyChange(trx, ADMINISTRATORS, 'administration')
  await notifyChange(trx, EVERYONE, 'attacks')
}
