import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../version.ts'

export type FeedFormat = 'plain' | 'drop-json' | 'dshield'

/** A public list of addresses, and what its provider asks of those who use it. */
export type PublicFeed = {
  id: string
  name: string
  provider: string
  /** What its addresses have in common, in a few words. */
  label: string
  description: string
  homepage: string
  /** Licence or terms of use, in a sentence. */
  terms: string
  termsUrl: string
  /** Where an address is removed; `{ip}` stands for it. Null where that is not possible. */
  removalUrl: string | null
  format: FeedFormat
  /** Parts of the feed, which are downloaded together. */
  urls: string[]
  /** Whether a version without an address is valid. */
  mayBeEmpty?: boolean
  /** Hours between two downloads. */
  intervalHours: number
  /** Hours without a new version after which something is wrong. */
  staleAfterHours: number
  /** Hours without a new version after which the last one is no longer used. */
  maxAgeHours: number
}

/** The feeds that an operator can enable. To add one, add it to the file. */
export const PUBLIC_FEEDS: readonly PublicFeed[] = JSON.parse(
  readFileSync(join(ROOT, 'data', 'public-feeds.json'), 'utf8'),
)

export const FEED_IDS = PUBLIC_FEEDS.map(({ id }) => id)

const byId = new Map(PUBLIC_FEEDS.map((feed) => [feed.id, feed]))

/** Undefined for a feed that this version does not have. */
export function findPublicFeed(id: string): PublicFeed | undefined {
  return byId.get(id)
}

/** The page on which an address is removed from a feed; null where that is not possible. */
export function removalUrlOf({ removalUrl }: Pick<PublicFeed, 'removalUrl'>, ip: string) {
  return removalUrl === null ? null : removalUrl.replace('{ip}', encodeURIComponent(ip))
}
