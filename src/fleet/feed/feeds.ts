import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import type { Notifications } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { FLEET_CHANGED } from '../bans/write-changes.ts'
import { readDelta, type FleetDelta } from './fleet-feed.sql.ts'

/** A change of a list as followers receive it: its text is made once for all of them. */
export type FeedEvent = { from: number | null; cursor: number; complete: boolean; text: string }

type Follower = { deliver(event: FeedEvent): void }

export type Feeds = {
  /** Reads the changes since a cursor; concurrent followers with the same one share the query. */
  read(workspaceId: string, since: number | null): Promise<FeedEvent>
  /**
   * Subscribes to the changes after a cursor, which `read` returned.
   * @returns ends the subscription; null when the feed is ahead of the cursor: read again
   */
  follow(workspaceId: string, cursor: number, follower: Follower): (() => void) | null
  close(): void
}

/** Minimum time between two queries for one workspace. Changes in between are combined. */
const MIN_INTERVAL_MS = 50
/** Pause after a failed query. */
const RETRY_MS = 1_000

type Feed = { cursor: number; followers: Set<Follower>; wake(): void }

/** Serves the lists of all workspaces: one query per change, whatever the number of followers. */
export function createFeeds({
  db,
  notifications,
  log,
}: {
  db: Kysely<DB>
  notifications: Notifications
  log: Logger
}): Feeds {
  const feeds = new Map<string, Feed>()
  const reads = new Map<string, Promise<FeedEvent>>()
  const closing = new AbortController()
  const stops = [
    notifications.on(FLEET_CHANGED, (payload) => feeds.get((payload as [string])[0])?.wake()),
    notifications.onReconnect(() => feeds.forEach((feed) => feed.wake())),
  ]

  function createFeed(workspaceId: string, cursor: number): Feed {
    let [isStale, isRunning] = [false, false]
    async function run(): Promise<void> {
      isRunning = true
      while (isStale && feed.followers.size > 0 && !closing.signal.aborted) {
        isStale = false
        try {
          const event = await readEvent(db, workspaceId, feed.cursor)
          if (event.cursor === feed.cursor) continue
          feed.cursor = event.cursor
          for (const follower of feed.followers) follower.deliver(event)
          await sleep(MIN_INTERVAL_MS)
        } catch (err) {
          log.warn({ err }, 'changes of a fleet list could not be read; retrying')
          isStale = true
          await sleep(RETRY_MS)
        }
      }
      isRunning = false
    }
    const feed: Feed = {
      cursor,
      followers: new Set(),
      wake() {
        isStale = true
        if (!isRunning) void run()
      },
    }
    return feed
  }

  return {
    read(workspaceId, since) {
      const key = `${workspaceId} ${since}`
      const running = reads.get(key)
      if (running) return running
      const reading = readEvent(db, workspaceId, since).finally(() => reads.delete(key))
      reads.set(key, reading)
      return reading
    },
    follow(workspaceId, cursor, follower) {
      const known = feeds.get(workspaceId)
      if (known && known.cursor > cursor) return null
      const feed = known ?? createFeed(workspaceId, cursor)
      feeds.set(workspaceId, feed)
      feed.followers.add(follower)
      // A change may have been committed between the read and now. A running feed notices itself.
      if (!known) feed.wake()
      return () => {
        feed.followers.delete(follower)
        if (feed.followers.size === 0 && feeds.get(workspaceId) === feed) feeds.delete(workspaceId)
      }
    },
    close() {
      closing.abort()
      stops.forEach((stop) => stop())
    },
  }
}

async function readEvent(
  db: Kysely<DB>,
  workspaceId: string,
  since: number | null,
): Promise<FeedEvent> {
  const delta = await readDelta(db, workspaceId, since)
  const { cursor, complete } = delta
  return { from: since, cursor, complete, text: await textOfDelta(delta, Date.now()) }
}

/** Addresses between which other requests get their turn. */
const ADDRESSES_PER_TURN = 2_000

async function textOfDelta(
  { cursor, complete, added, removed }: FleetDelta,
  now: number,
): Promise<string> {
  const parts: string[] = []
  for (let at = 0; at < added.length; at += ADDRESSES_PER_TURN) {
    if (at > 0) await nextTurn()
    const part = added.slice(at, at + ADDRESSES_PER_TURN).map((entry) => presentAdded(entry, now))
    parts.push(JSON.stringify(part).slice(1, -1))
  }
  const begin = JSON.stringify({ cursor, complete }).slice(0, -1)
  return `${begin},"added":[${parts.join(',')}],"removed":${JSON.stringify(removed)}}`
}

/** Remaining seconds beside the time, for servers whose clock is wrong. */
function presentAdded({ address, expiresAt }: FleetDelta['added'][number], now: number) {
  return {
    ip: address,
    expiresAt: new Date(expiresAt).toISOString(),
    seconds: Math.max(0, Math.ceil((expiresAt - now) / 1000)),
  }
}
