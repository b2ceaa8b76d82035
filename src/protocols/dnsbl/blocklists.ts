import { reversedLabels } from '../../net/address.ts'
import type { Resolver } from '../../net/dns.ts'
import { LIST_CATEGORIES, type Blocklist, type Catalogue } from './blocklist-catalogue.ts'
import { createZoneHealthTracker, type ZoneHealthTracker, type HealthState } from './zone-health.ts'
import { queryName } from './dnsbl-answer.ts'

/** The result of one blocklist for one address, and its reliability. */
export type Listing = {
  list: Blocklist
  status: 'listed' | 'clean' | 'unknown'
  codes: string[]
  /** The documented meaning of the codes. */
  meanings: string[]
  /** The list's own text with a listing. */
  reason: string | null
  /** The reason for an unknown result, or a peculiarity of the blocklist. */
  detail: string | null
  health: HealthState
  /**
   * Milliseconds since the epoch: when the list answered, and until when the answer may be kept.
   */
  checkedAt: number
  expiresAt: number
}

/**
 * The enabled blocklists, their query settings, and their known health. Created once and shared by
 * all sweeps.
 */
export type Blocklists = {
  readonly lists: readonly Blocklist[]
  readonly resolver: Resolver
  readonly health: ZoneHealthTracker
  /** Sentences about the catalogue and the keys, for the log and the doctor. */
  readonly warnings: readonly string[]
  /** The account's key for a list, from its own setting or that of a list which includes it. */
  readonly keyOf: (list: Blocklist) => string | undefined
  readonly cache: ListingCache
}

/**
 * @param keys account keys by zone
 * @param resolver a recursive resolver that the lists answer
 */
export function createBlocklists(given: {
  catalogue: Catalogue
  keys: ReadonlyMap<string, string>
  resolver: Resolver
}): Blocklists {
  const { catalogue, keys, resolver } = given
  const keyed = keysByZone(catalogue.lists, keys)
  const keyOf = (list: Blocklist) => keyed.get(list.zone)
  const isAsked = (list: Blocklist) =>
    list.access === 'key' ? keyOf(list) !== undefined : list.enabled
  const lists = catalogue.lists.filter(isAsked).toSorted(byCategoryAndName)
  const health = createZoneHealthTracker(lists.length, (list, ip, signal) =>
    resolver.query(queryName(reversedLabels(ip), list, keyOf(list)), 'A', signal),
  )
  return {
    lists,
    resolver,
    health,
    keyOf,
    cache: createListingCache(),
    warnings: warningsOf(catalogue, keys, isAsked),
  }
}

/** The key of a blocklist is also the key of those whose entries it includes. */
function keysByZone(lists: Blocklist[], keys: ReadonlyMap<string, string>): Map<string, string> {
  const inherited = lists.flatMap(({ zone, includes }) =>
    includes.map((part) => [part, keys.get(zone)] as const),
  )
  const found = new Map([...inherited, ...keys])
  return new Map(
    lists.flatMap(({ zone, keyTemplate }) => {
      const key = found.get(zone)
      return key !== undefined && keyTemplate !== undefined ? [[zone, key] as const] : []
    }),
  )
}

function warningsOf(
  catalogue: Catalogue,
  keys: ReadonlyMap<string, string>,
  isAsked: (l: Blocklist) => boolean,
): string[] {
  const keyless = catalogue.lists.filter((list) => list.enabled && !isAsked(list))
  const useless = [...keys.keys()].filter(
    (zone) => !catalogue.lists.some((l) => l.zone === zone && l.keyTemplate),
  )
  return [
    ...catalogue.warnings,
    ...keyless.map(
      ({ name, zone }) =>
        `${name} is not queried because it needs a key. Set DNSBL_KEYS=${zone}=….`,
    ),
    ...useless.map(
      (zone) =>
        `DNSBL_KEYS has a key for ${zone}, but the catalogue has no list with this zone that uses a key.`,
    ),
  ]
}

function byCategoryAndName(a: Blocklist, b: Blocklist): number {
  return (
    LIST_CATEGORIES.indexOf(a.category) - LIST_CATEGORIES.indexOf(b.category) ||
    a.name.localeCompare(b.name)
  )
}

/** Some two hundred sweeps, at a few hundred bytes a listing. */
const MAX_CACHED_LISTINGS = 20_000

type ListingCache = {
  get(key: string): Listing | undefined
  set(key: string, listing: Listing): void
}

/** Keeps listings until they expire, the youngest of them when there are too many. */
function createListingCache(): ListingCache {
  let young = new Map<string, Listing>()
  let old = new Map<string, Listing>()
  return {
    get(key) {
      const found = young.get(key) ?? old.get(key)
      const now = Date.now()
      // An answer from the future is from before the clock was set back.
      return found && found.checkedAt <= now && now < found.expiresAt ? found : undefined
    },
    set(key, listing) {
      // Two generations: dropping a map whole is cheaper than looking for its oldest key.
      if (young.size >= MAX_CACHED_LISTINGS / 2) [young, old] = [new Map(), young]
      young.set(key, listing)
    },
  }
}
