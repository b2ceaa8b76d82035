import type { Verdict } from '../check/kinds/verdict.ts'
import type { AddressFacts } from './api.ts'
import { verdicts } from './messages.ts'

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

/** The verdict on an address, in one sentence. */
export function addressVerdict({
  ip,
  listingState,
  distinctReporters,
  peers,
}: AddressFacts): Verdict {
  const sentence = `${ip} ${verdicts[listingState](distinctReporters, peers)}`
  return { tone: TONES[listingState], sentence }
}
