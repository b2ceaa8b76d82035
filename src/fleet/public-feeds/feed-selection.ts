import { createHash } from 'node:crypto'
import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { DB } from '../../store/tables.ts'
import { SECOND_MS } from '../../time.ts'
import { formatNetwork, parseNetwork } from '../../protocols/networks/network.ts'
import { countNetworks, findOverlapping } from '../../protocols/networks/network-set.ts'
import { FEED_IDS } from '../../public-feeds/feed-catalogue.ts'
import type { FeedInUse, PublicFeeds } from '../../public-feeds/public-feeds.ts'
import { MAX_FEED_NETWORKS } from '../limits.ts'
import { listProtectedNetworks, type ProtectionDeps } from '../protection.ts'

/** Versions of public feeds, and the networks in them that a workspace never blocks. */
export type FeedSelection = {
  /** The id and the hash of each feed, in the order of the catalogue. */
  versions: [string, string][]
  excluded: string[]
  /** The same for the same content. */
  key: string
}

export type FeedSelections = {
  /** What servers of a workspace that chose these feeds block now; null without feeds. */
  current(workspaceId: string, ids: readonly string[]): Promise<FeedSelection | null>
}

/** A change of what is never blocked, such as a new server, counts after this time. */
const CACHE_MS = 5 * SECOND_MS
const MAX_CACHED = 1_000

export function createFeedSelections(
  deps: ProtectionDeps & { db: Kysely<DB>; publicFeeds: PublicFeeds },
): FeedSelections {
  const selections = new LRUCache<string, Promise<FeedSelection | null>>({
    max: MAX_CACHED,
    ttl: CACHE_MS,
  })
  async function select(workspaceId: string, feeds: FeedInUse[]): Promise<FeedSelection | null> {
    if (feeds.length === 0) return null
    const all = await listProtectedNetworks(deps.db, workspaceId, deps)
    const networks = all.flatMap((text) => parseNetwork(text) ?? [])
    const inFeeds = networks.filter((one) => feeds.some(({ set }) => findOverlapping(set, one)))
    const excluded = [...new Set(inFeeds.map(formatNetwork))].toSorted()
    return withKey({ versions: feeds.map(({ feed, version }) => [feed.id, version]), excluded })
  }
  return {
    current(workspaceId, ids) {
      if (ids.length === 0) return Promise.resolve(null)
      const feeds = chosenFeeds(deps.publicFeeds, ids).fitting
      const key = [workspaceId, ...feeds.map(({ feed, version }) => `${feed.id} ${version}`)].join()
      const known = selections.get(key)
      if (known) return known
      const selecting = select(workspaceId, feeds)
      selections.set(key, selecting)
      selecting.catch(() => selections.delete(key))
      return selecting
    },
  }
}

function withKey(selection: Omit<FeedSelection, 'key'>): FeedSelection {
  const { versions, excluded } = selection
  const text = JSON.stringify([versions, excluded])
  const key = createHash('sha256').update(text).digest('base64url')
  return { ...selection, key }
}

/**
 * The chosen feeds that are in use, in the order of the catalogue, as many as fit into the limit of
 * what servers load; larger ones are left out.
 */
export function chosenFeeds(
  publicFeeds: Pick<PublicFeeds, 'listInUse'>,
  ids: readonly string[],
): { fitting: FeedInUse[]; leftOut: string[]; networks: number } {
  const [fitting, leftOut]: [FeedInUse[], string[]] = [[], []]
  let networks = 0
  const inUse = new Map(publicFeeds.listInUse().map((used) => [used.feed.id, used]))
  for (const id of FEED_IDS) {
    const used = ids.includes(id) && inUse.get(id)
    if (!used) continue
    const count = countNetworks(used.set)
    if (networks + count > MAX_FEED_NETWORKS) leftOut.push(id)
    else {
      fitting.push(used)
      networks += count
    }
  }
  return { fitting, leftOut, networks }
}
