import { isBadOutcome, type Outcome } from './placement-outcome.ts'

/** A finished result of one seed. One that is void says nothing about the sender. */
export type PlacementResult = { outcome: Outcome; isVoid: boolean }

/** Results of all seeds of a canary in times without a problem. */
export type Baseline = { bad: number; total: number }

export type PlacementState = { isBad: boolean; isBlind: boolean }

/** Results of a seed that decide. */
const DECISIVE = 3
/** Results without an answer after which nothing is known of a seed. */
const BLIND_AFTER = 3
/** What is expected before there are results: one bad result in a hundred, worth fifty of them. */
const PRIOR = { bad: 0.5, total: 50 }
/** False alarms that are expected in a quarter of a year, above which the decision is stricter. */
const MAX_EXPECTED_ALARMS = 0.5

/**
 * Decides whether the mails of a sender have a problem at a seed: two of the last three results are
 * bad. Where that would happen by chance, as single mails are lost often or many are sent, all three
 * have to be. A lasting change is found within three runs either way, and it ends after three good
 * results.
 * @param results of the seed, the newest last
 * @param resultsPerQuarter of all seeds together
 */
export function evaluatePlacement(
  before: PlacementState,
  results: readonly PlacementResult[],
  baseline: Baseline,
  resultsPerQuarter: number,
): PlacementState {
  const known = results.filter(({ outcome, isVoid }) => outcome !== 'unknown' && !isVoid)
  const last = known.slice(-DECISIVE)
  const bad = last.filter(({ outcome }) => isBadOutcome(outcome)).length
  const isBad = before.isBad
    ? !(last.length === DECISIVE && bad === 0)
    : bad >= neededOfThree(baseline, resultsPerQuarter)
  return { isBad, isBlind: isBlind(before, results) }
}

/** How many of three results have to be bad: 2 or 3. */
export function neededOfThree({ bad, total }: Baseline, resultsPerQuarter: number): 2 | 3 {
  const chance = (bad + PRIOR.bad) / (total + PRIOR.total)
  // A bad result is followed by another one in the two results after it.
  const expected = resultsPerQuarter * 2 * chance ** 2
  return expected <= MAX_EXPECTED_ALARMS ? 2 : 3
}

function isBlind(before: PlacementState, results: readonly PlacementResult[]): boolean {
  const last = results.slice(-BLIND_AFTER)
  const unknown = last.filter(({ outcome }) => outcome === 'unknown').length
  if (unknown === 0 || last.at(-1)?.outcome !== 'unknown') return false
  return before.isBlind || unknown === BLIND_AFTER
}
