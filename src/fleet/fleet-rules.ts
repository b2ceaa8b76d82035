import { MAX_SIGHTINGS } from './limits.ts'

/** When reports of an address ban it, and for how long. */
export type FleetRule = {
  /** Ids of services; empty for all. */
  services: string[]
  /** Events that ban an address when they are reported within the window. */
  minCount: number
  windowSeconds: number
  /** The first ban. Each further one is longer by the factor, up to the maximum. */
  banSeconds: number
  growth: number
  maxBanSeconds: number
}

/** fail2ban counts attempts itself, so that one report is enough. */
export const DEFAULT_RULES: readonly FleetRule[] = [
  {
    services: [],
    minCount: 1,
    windowSeconds: 600,
    banSeconds: 4 * 3_600,
    growth: 4,
    maxBanSeconds: 7 * 86_400,
  },
]

/** A report of an address: `at` in milliseconds since 1970. */
export type Sighting = { tokenId: string; service: string; count: number; at: number }

/** What a workspace remembers of an address; times in milliseconds since 1970. */
export type BanState = {
  /** Null while it is not banned. */
  expiresAt: number | null
  banSeconds: number | null
  bans: number
  sightings: Sighting[]
}

export type BanChange = 'banned' | 'extended'

const UNKNOWN: BanState = { expiresAt: null, banSeconds: null, bans: 0, sightings: [] }

/** The rule that applies to a service: the first that names it, or that is for all. */
export function ruleFor(rules: readonly FleetRule[], service: string): FleetRule | undefined {
  return rules.find(({ services }) => services.length === 0 || services.includes(service))
}

/** The length of a ban in seconds. @param bans its number, from 1 */
export function banSecondsOf(rule: FleetRule, bans: number): number {
  const grown = rule.banSeconds * rule.growth ** (bans - 1)
  return Math.round(Math.min(grown, Math.max(rule.maxBanSeconds, rule.banSeconds)))
}

/**
 * Applies one report to what is remembered of its address. A pure function.
 *
 * Reports during a ban are no repetition: several servers see one attack. They extend it when less
 * than half of it is left.
 */
export function applySighting(
  before: BanState | undefined,
  sighting: Sighting,
  rule: FleetRule,
): { state: BanState; change: BanChange | null } {
  const known = before ?? UNKNOWN
  const now = sighting.at
  const sightings = [...known.sightings, sighting].slice(-MAX_SIGHTINGS)
  const seen: BanState = { ...known, sightings }
  if (countIn(sightings, rule, now) < rule.minCount) return { state: seen, change: null }

  const { expiresAt, banSeconds } = known
  if (expiresAt !== null && expiresAt > now) {
    const length = banSeconds ?? banSecondsOf(rule, Math.max(1, known.bans))
    const extended = now + length * 1000
    if (expiresAt - now >= (length * 1000) / 2) return { state: seen, change: null }
    return { state: { ...seen, expiresAt: extended }, change: 'extended' }
  }
  const bans = known.bans + 1
  const length = banSecondsOf(rule, bans)
  const banned = { ...seen, bans, banSeconds: length, expiresAt: now + length * 1000 }
  return { state: banned, change: 'banned' }
}

function countIn(sightings: Sighting[], { services, windowSeconds }: FleetRule, now: number) {
  return sightings
    .filter(({ at, service }) => {
      const isRecent = now - at < windowSeconds * 1000
      return isRecent && (services.length === 0 || services.includes(service))
    })
    .reduce((sum, { count }) => sum + count, 0)
}
