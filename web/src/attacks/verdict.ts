import type { Verdict } from '../check/verdict.ts'
import { counted } from '../ui/text/format.ts'
import type { AddressFacts } from './api.ts'

type State = AddressFacts['listingState']

const TONES: Record<State, Verdict['tone']> = {
  listed: 'bad',
  watchlist: 'warn',
  observed: 'info',
  delisted: 'good',
  expired: 'good',
  whitelisted: 'good',
  none: 'good',
}

/** What is known of an address, in one sentence. */
export function addressVerdict({ ip, listingState, distinctReporters }: AddressFacts): Verdict {
  const seen = `${counted(distinctReporters, 'network')} reported it`
  const words: Record<State, string> = {
    listed: `is listed: ${seen}, independently of each other.`,
    watchlist: `is watched, but not listed: ${seen}, which is not enough.`,
    observed: `is not listed: ${seen}, which means little.`,
    delisted: 'is not listed any more.',
    expired: 'is not listed: nobody reported it in the last thirty days.',
    whitelisted: 'is never listed: an administrator put it on the whitelist.',
    none: 'is not listed: nobody reported it.',
  }
  return { tone: TONES[listingState], sentence: `${ip} ${words[listingState]}` }
}

export const CONFIDENCE: Record<AddressFacts['confidenceLevel'], string> = {
  none: 'None',
  low: 'Low: one independent witness',
  medium: 'Medium: two independent witnesses',
  high: 'High: three independent witnesses, one of them established',
  'very-high': 'Very high: six independent witnesses, two of them established',
}
