import { setImmediate as breathe } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { DB } from '../store/tables.ts'
import { countIPv4Addresses, type NetworkSet } from '../protocols/networks/network-set.ts'
import { PUBLIC_FEEDS, type PublicFeed } from './feed-catalogue.ts'
import { cachedOverlap, isInUse, type FeedInUse, type PublicFeeds } from './public-feeds.ts'
import { listFeeds, type FeedRow } from './public-feeds.sql.ts'

type NamedList = { list: string; set: NetworkSet }

/**
 * Describes all feeds: their terms, their state, and what they have in common.
 * @param own the lists of this installation
 */
export async function describeFeeds(
  deps: { db: Kysely<DB>; publicFeeds: PublicFeeds; clock: () => number },
  own: NamedList[],
) {
  const rows = new Map((await listFeeds(deps.db)).map((row) => [row.id, row]))
  const inUse = deps.publicFeeds.listInUse()
  const lists = [...own, ...inUse.map(({ feed, set }) => ({ list: feed.id, set }))]
  const described = []
  for (const feed of PUBLIC_FEEDS) {
    const used = inUse.find((one) => one.feed.id === feed.id)
    const overlaps = used ? await overlapsOf(used, lists) : []
    described.push(describe(feed, rows.get(feed.id), used, deps.clock(), overlaps))
  }
  return described
}

async function overlapsOf({ feed, set }: FeedInUse, lists: NamedList[]) {
  const overlaps: { list: string; networks: number }[] = []
  for (const other of lists) {
    if (other.list === feed.id) continue
    const networks = cachedOverlap(set, other.set)
    if (networks > 0) overlaps.push({ list: other.list, networks })
    await breathe()
  }
  return overlaps
}

function describe(
  feed: PublicFeed,
  row: FeedRow | undefined,
  used: FeedInUse | undefined,
  now: number,
  overlaps: { list: string; networks: number }[],
) {
  const { format: _format, urls: _urls, removalUrl: _removalUrl, ...facts } = feed
  return {
    ...facts,
    enabled: row?.enabled ?? false,
    state: stateOf(feed, row, now),
    networks: row?.networkCount ?? 0,
    skipped: row?.skippedCount ?? 0,
    addresses: used ? countIPv4Addresses(used.set) : 0,
    changedAt: row?.changedAt ?? null,
    checkedAt: row?.checkedAt ?? null,
    problem: row?.problem ?? null,
    problemText: row?.problemText ?? '',
    problemAt: row?.problemAt ?? null,
    heldNetworks: row?.heldCount ?? null,
    overlaps,
  }
}

function stateOf(feed: PublicFeed, row: FeedRow | undefined, now: number) {
  if (!row?.enabled) return 'off' as const
  if (row.changedAt === null) return 'waiting' as const
  return isInUse(feed, row.changedAt, now) ? ('in-use' as const) : ('expired' as const)
}
