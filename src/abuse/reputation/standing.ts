import type { Standing } from '../scoring/score.ts'
import { DAY_MS } from '../../time.ts'

/** The record of a reporting network. Times are milliseconds since 1970. */
export type NetworkHistory = {
  firstSeenAt: number
  establishedAt: number | null
  /**
   * Addresses it reported before they were listed, and how many of them an independent network
   * reported later.
   */
  reported: number
  confirmed: number
  /** Of the last thirty days: whitelisted addresses it reported, and appeals upheld against it. */
  refuted: number
}

const ESTABLISHED = {
  age: 14 * DAY_MS,
  reported: 20,
  confirmed: 0.5,
  refuted: 0.01,
  refutations: 3,
}
const TRUSTED = { age: 180 * DAY_MS, refuted: 0.002 }
/** Confirmations that one refutation cancels. */
const CONFIRMATIONS_PER_REFUTATION = 10

/** The reputation that a network earned by its own confirmed history. */
export function standingOf(
  history: NetworkHistory,
  now: number,
): Extract<Standing, 'new' | 'established' | 'trusted'> {
  const { firstSeenAt, establishedAt, reported, confirmed, refuted } = history
  const share = refuted / Math.max(1, reported)
  if (now - firstSeenAt < ESTABLISHED.age || reported < ESTABLISHED.reported) return 'new'
  if (refuted >= ESTABLISHED.refutations || share >= ESTABLISHED.refuted) return 'new'
  if (
    wilsonLowerBound(Math.max(0, confirmed - CONFIRMATIONS_PER_REFUTATION * refuted), reported) <
    ESTABLISHED.confirmed
  )
    return 'new'
  const isOld = establishedAt !== null && now - establishedAt >= TRUSTED.age
  return isOld && share < TRUSTED.refuted ? 'trusted' : 'established'
}

/** The lower bound of the proportion `hits` of `all` with 97.5% confidence (Wilson 1927). */
function wilsonLowerBound(hits: number, all: number): number {
  const z = 1.96
  const share = hits / all
  const middle = share + (z * z) / (2 * all)
  const spread = z * Math.sqrt((share * (1 - share)) / all + (z * z) / (4 * all * all))
  return (middle - spread) / (1 + (z * z) / all)
}
