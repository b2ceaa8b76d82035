import {
  blacklistVerdict as blacklist,
  dnsVerdict as dns,
  mailAuthVerdict as mailAuth,
  tlsVerdict as tls,
  type Verdict as SharedVerdict,
} from '../../../../src/diagnostics/check-verdict.ts'
import type { Tone } from '../../ui/feedback/status.tsx'

/** A result in one sentence, with its severity. */
export type Verdict = { tone: Tone; sentence: string }

const TONES: Record<SharedVerdict['state'], Tone> = {
  good: 'good',
  warning: 'warn',
  bad: 'bad',
  unknown: 'unknown',
}

/** The verdict that the command line prints too, in a tone of the dashboard. */
const toned =
  <T>(verdict: (data: T) => SharedVerdict) =>
  (data: T): Verdict => {
    const { state, sentence } = verdict(data)
    return { tone: TONES[state], sentence }
  }

export const dnsVerdict = toned(dns)
export const mailAuthVerdict = toned(mailAuth)
export const tlsVerdict = toned(tls)
export const blacklistVerdict = toned(blacklist)
