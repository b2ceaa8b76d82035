import { crc32 } from 'node:zlib'
import type { ListedAddress } from '../feed/fleet-feed.sql.ts'

/** A decision as CrowdSec’s local API serves it. */
export type Decision = {
  id: number
  origin: string
  type: 'ban'
  scope: 'Ip' | 'Range'
  value: string
  /** As Go prints it; negative for a decision that ended. */
  duration: string
  scenario: string
}

export const FLEET_ORIGIN = 'portreeve-fleet'
export const SHARED_ORIGIN = 'portreeve-shared'
/** The origin of blocklists in CrowdSec; the scenario is the name of the list. */
export const FEED_ORIGIN = 'lists'

/**
 * How long a bouncer keeps an address of the shared list, which it hears of again after a part of
 * that time.
 */
export const SHARED_SECONDS = 7 * 86_400

/** How long a bouncer keeps an entry of a public feed. */
export const FEED_SECONDS = 2 * 86_400

/** Ids of the shared list and of feeds begin above those of any fleet list. */
const FIRST_SHARED_ID = 2 ** 40
const FIRST_FEED_ID = 2 ** 41

export function fleetDecision(entry: ListedAddress, now: number): Decision {
  const { address, expiresAt, change, service } = entry
  return {
    id: change,
    origin: FLEET_ORIGIN,
    type: 'ban',
    ...scopeOf(address),
    duration: goDuration(Math.max(1, Math.ceil((expiresAt - now) / 1000))),
    scenario: service === '' ? 'portreeve/manual' : `portreeve/${service}`,
  }
}

export function sharedDecision(address: string): Decision {
  return {
    id: FIRST_SHARED_ID + crc32(address),
    origin: SHARED_ORIGIN,
    type: 'ban',
    ...scopeOf(address),
    duration: goDuration(SHARED_SECONDS),
    scenario: 'portreeve/shared-list',
  }
}

/** @param feed its id */
export function feedDecision(network: string, feed: string): Decision {
  return {
    id: FIRST_FEED_ID + crc32(network),
    origin: FEED_ORIGIN,
    type: 'ban',
    ...scopeOf(network),
    duration: goDuration(FEED_SECONDS),
    scenario: feed,
  }
}

/** The decision about an address that is banned no longer. */
export function endedDecision(address: string, origin: string): Decision {
  return {
    ...sharedDecision(address),
    origin,
    duration: '-1s',
    scenario: origin === SHARED_ORIGIN ? 'portreeve/shared-list' : 'portreeve/ended',
  }
}

function scopeOf(address: string): Pick<Decision, 'scope' | 'value'> {
  return { scope: address.includes('/') ? 'Range' : 'Ip', value: address }
}

/** `4h0m0s`, as time.Duration prints whole seconds. */
function goDuration(seconds: number): string {
  const [h, m, s] = [Math.floor(seconds / 3_600), Math.floor(seconds / 60) % 60, seconds % 60]
  if (h > 0) return `${h}h${m}m${s}s`
  return m > 0 ? `${m}m${s}s` : `${s}s`
}

/** Which decisions a bouncer wants. */
export type DecisionFilter = {
  scopes: Set<string> | null
  origins: Set<string> | null
  containing: string[]
  notContaining: string[]
}

export type FilterQuery = {
  scopes?: string | undefined
  origins?: string | undefined
  scenarios_containing?: string | undefined
  scenarios_not_containing?: string | undefined
}

export function filterOf(query: FilterQuery): DecisionFilter {
  const set = (text: string | undefined) => (text ? new Set(partsOf(text.toLowerCase())) : null)
  const scopes = set(query.scopes)
  return {
    // There are no others: the firewall bouncer names both, and wants everything.
    scopes: scopes?.has('ip') && scopes.has('range') ? null : scopes,
    origins: set(query.origins),
    containing: partsOf(query.scenarios_containing?.toLowerCase() ?? ''),
    notContaining: partsOf(query.scenarios_not_containing?.toLowerCase() ?? ''),
  }
}

const partsOf = (text: string) =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

export function isWanted({ scope, origin, scenario }: Decision, filter: DecisionFilter): boolean {
  const { scopes, origins, containing, notContaining } = filter
  const name = scenario.toLowerCase()
  return (
    (scopes?.has(scope.toLowerCase()) ?? true) &&
    (origins?.has(origin.toLowerCase()) ?? true) &&
    (containing.length === 0 || containing.some((word) => name.includes(word))) &&
    !notContaining.some((word) => name.includes(word))
  )
}

/** Whether a filter lets every decision pass. */
export const wantsAll = ({ scopes, origins, containing, notContaining }: DecisionFilter): boolean =>
  scopes === null && origins === null && containing.length + notContaining.length === 0
