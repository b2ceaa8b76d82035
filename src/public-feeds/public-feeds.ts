import type { Kysely } from 'kysely'
import type { Logger } from '../log.ts'
import { createMirror } from '../store/mirror.ts'
import type { Notifications } from '../store/notifications.ts'
import type { DB } from '../store/tables.ts'
import { HOUR_MS } from '../time.ts'
import { decodeNetworkSet } from '../protocols/networks/encode-set.ts'
import { formatNetwork, parseNetwork } from '../protocols/networks/network.ts'
import {
  countOverlap,
  findOverlapping,
  type NetworkSet,
} from '../protocols/networks/network-set.ts'
import { findPublicFeed, removalUrlOf, type PublicFeed } from './feed-catalogue.ts'
import { findNetworks, listVersions } from './public-feeds.sql.ts'
import { FEEDS_CHANGED } from './update-feed.ts'

/** A feed whose version in use is not too old. */
export type FeedInUse = { feed: PublicFeed; set: NetworkSet; changedAt: Date; version: string }

/** An entry of a feed about an address. */
type FeedListing = {
  id: string
  name: string
  label: string
  network: string
  since: Date
  removalUrl: string | null
}

/** The enabled feeds, in memory and the same in every instance. */
export type PublicFeeds = {
  listInUse(): FeedInUse[]
  /** Finds the feeds with an address. @param key an IPv4 address, or an IPv6 /64 */
  find(key: string): FeedListing[]
  close(): void
}

/** Loads the feeds, and reloads those that an instance has changed. */
export async function createPublicFeeds(deps: {
  db: Kysely<DB>
  notifications: Notifications
  log: Logger
  clock: () => number
}): Promise<PublicFeeds> {
  const { db, notifications, log, clock } = deps
  let loaded = new Map<string, FeedInUse>()

  async function load(): Promise<void> {
    const versions = await listVersions(db)
    const next = new Map<string, FeedInUse>()
    for (const { id, hash, changedAt } of versions) {
      const feed = findPublicFeed(id)
      if (!feed || !hash || !changedAt) continue
      const version = hash.toString('base64url')
      const known = loaded.get(id)
      const set = known?.version === version ? known.set : await readSet(id)
      if (set) next.set(id, { feed, set, changedAt, version })
    }
    loaded = next
  }

  async function readSet(id: string): Promise<NetworkSet | null> {
    const bytes = await findNetworks(db, id)
    return bytes && decodeNetworkSet(bytes)
  }

  const { close } = await createMirror({ notifications, log }, FEEDS_CHANGED, load)

  function listInUse(): FeedInUse[] {
    const now = clock()
    return [...loaded.values()].filter(({ feed, changedAt }) => isInUse(feed, changedAt, now))
  }

  return {
    listInUse,
    find(key) {
      const network = parseNetwork(key)
      if (!network) return []
      return listInUse().flatMap(({ feed, set }) => {
        const found = findOverlapping(set, network)
        return found ? [listingOf(feed, formatNetwork(found), found.since, key)] : []
      })
    },
    close,
  }
}

function listingOf(feed: PublicFeed, network: string, since: number, key: string): FeedListing {
  const { id, name, label } = feed
  const removalUrl = removalUrlOf(feed, key.split('/', 1)[0] ?? key)
  return { id, name, label, network, since: new Date(since * 1000), removalUrl }
}

/** Whether a version is young enough to be used. */
export function isInUse({ maxAgeHours }: PublicFeed, changedAt: Date | null, now: number) {
  return changedAt !== null && now - changedAt.getTime() < maxAgeHours * HOUR_MS
}

const overlaps = new WeakMap<NetworkSet, WeakMap<NetworkSet, number>>()

/** Counts the networks of a set that overlap another one; remembered while both are in use. */
export function cachedOverlap(set: NetworkSet, other: NetworkSet): number {
  const known = overlaps.get(set) ?? new WeakMap<NetworkSet, number>()
  overlaps.set(set, known)
  const count = known.get(other) ?? countOverlap(set, other)
  known.set(other, count)
  return count
}
