import type { Kysely } from 'kysely'
import { LRUCache } from 'lru-cache'
import type { DB } from '../../store/tables.ts'
import type { NamedSet } from '../../protocols/networks/combine.ts'
import { decodeNetworkSet } from '../../protocols/networks/encode-set.ts'
import {
  createLabelledSet,
  differenceOf,
  type LabelledSet,
} from '../../protocols/networks/labelled-set.ts'
import { parseNetwork } from '../../protocols/networks/network.ts'
import { countNetworks, type NetworkSet } from '../../protocols/networks/network-set.ts'
import type { PublicFeeds } from '../../public-feeds/public-feeds.ts'
import { findVersion } from '../../public-feeds/public-feeds.sql.ts'
import type { FeedSelection } from './feed-selection.ts'

type FeedDifference = { added: LabelledSet; removed: NetworkSet }

/** The lists of public feeds that selections stand for. */
export type FeedLists = {
  /** The list of a current selection. */
  list(selection: FeedSelection): Promise<LabelledSet>
  /** What changed between two selections; null when a version of the first one is gone. */
  difference(before: FeedSelection, after: FeedSelection | null): Promise<FeedDifference | null>
}

/** Networks in memory: some 15 MB. Workspaces with the same feeds share a list. */
const MAX_CACHED_NETWORKS = 1_000_000
const MAX_DIFFERENCES = 64

const EMPTY: Promise<LabelledSet> = createLabelledSet([], [])

export function createFeedLists({
  db,
  publicFeeds,
}: {
  db: Kysely<DB>
  publicFeeds: PublicFeeds
}): FeedLists {
  const lists = new LRUCache<string, LabelledSet>({ maxSize: MAX_CACHED_NETWORKS })
  const making = new Map<string, Promise<LabelledSet | null>>()
  const differences = new LRUCache<string, Promise<FeedDifference | null>>({ max: MAX_DIFFERENCES })

  async function setOf(id: string, version: string): Promise<NetworkSet | null> {
    const used = publicFeeds.listInUse().find((one) => one.feed.id === id)
    if (used?.version === version) return used.set
    const bytes = await findVersion(db, id, Buffer.from(version, 'base64url'))
    return bytes && decodeNetworkSet(bytes)
  }

  async function make({ versions, excluded, key }: FeedSelection): Promise<LabelledSet | null> {
    const sets: NamedSet[] = []
    for (const [name, version] of versions) {
      const set = await setOf(name, version)
      if (!set) return null
      sets.push({ name, set })
    }
    const networks = excluded.flatMap((text) => parseNetwork(text) ?? [])
    const list = await createLabelledSet(sets, networks)
    lists.set(key, list, { size: 1 + countNetworks(list.set) })
    return list
  }

  async function find(selection: FeedSelection): Promise<LabelledSet | null> {
    const known = lists.get(selection.key)
    if (known) return known
    const running = making.get(selection.key)
    if (running) return running
    const started = make(selection).finally(() => making.delete(selection.key))
    making.set(selection.key, started)
    return started
  }

  async function compare(before: FeedSelection, after: FeedSelection | null) {
    const [old, list] = [await find(before), after ? await find(after) : await EMPTY]
    return old && list && differenceOf(old, list)
  }

  return {
    async list(selection) {
      const list = await find(selection)
      if (!list) throw new Error('a version of a public feed in use was not found')
      return list
    },
    difference(before, after) {
      const key = `${before.key} ${after?.key ?? ''}`
      const known = differences.get(key)
      if (known) return known
      const comparing = compare(before, after)
      differences.set(key, comparing)
      comparing.then(
        (found) => found ?? differences.delete(key),
        () => differences.delete(key),
      )
      return comparing
    },
  }
}
