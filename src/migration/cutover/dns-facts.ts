import { SECOND_MS } from '../../time.ts'
import { everyServer, hasHosts, type MxObservation } from './cutover-mx.ts'

/** What is known about the MX records of a cut-over. */
export type DnsFacts = {
  highestTtl: number | null
  lastTtl: number | null
  ttlLowAt: Date | null
  switchedAt: Date | null
  revertedAt: Date | null
}

export type Expectation = { expectedMx: readonly string[]; targetTtl: number }

/**
 * Adds an observation to the facts. An answer that is missing changes nothing, except that a TTL is
 * low only as long as every name server says so.
 */
export function addObservation(
  facts: DnsFacts,
  { expectedMx, targetTtl }: Expectation,
  observation: MxObservation,
  now: Date,
): DnsFacts {
  const answered = observation.servers.filter(({ problem }) => problem === null)
  if (answered.length === 0) return facts
  const isSwitched = everyServer(observation, (answer) => hasHosts(answer, expectedMx))
  const isLow = everyServer(observation, ({ ttl }) => ttl !== null && ttl <= targetTtl)
  const isHigh = answered.some(({ ttl }) => (ttl ?? 0) > targetTtl)
  const ttl = Math.max(...answered.map(({ ttl: each }) => each ?? 0))
  const isReverted = answered.some((answer) => !hasHosts(answer, expectedMx))
  const before =
    facts.switchedAt === null && !isSwitched
      ? { lastTtl: ttl, highestTtl: Math.max(ttl, facts.highestTtl ?? 0) }
      : {}
  return {
    ...facts,
    ...before,
    ttlLowAt: isHigh ? null : (facts.ttlLowAt ?? (isLow ? now : null)),
    switchedAt: facts.switchedAt ?? (isSwitched ? now : null),
    revertedAt: facts.switchedAt === null || !isReverted ? null : (facts.revertedAt ?? now),
  }
}

/**
 * When every resolver has the low TTL: copies with the old one live that long. Null while a name
 * server has a higher one.
 */
export function ttlEverywhereAt({ ttlLowAt, highestTtl }: DnsFacts): Date | null {
  return ttlLowAt && after(ttlLowAt, highestTtl ?? 0)
}

/** When every resolver has the new MX records; null before the switch. */
export function switchEverywhereAt({ switchedAt, lastTtl }: DnsFacts): Date | null {
  return switchedAt && after(switchedAt, lastTtl ?? 0)
}

function after(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * SECOND_MS)
}
