import { HIGH_SPAM_RATE, RAISED_SPAM_RATE } from '../limits.ts'

export const SPAM_RATE_LEVELS = ['raised', 'high'] as const
/** `raised` from 0.1%, `high` from 0.3%. */
export type SpamRateLevel = (typeof SPAM_RATE_LEVELS)[number]

/** The limit that a rate (0 to 1) has reached; null below both. */
export function levelOf(rate: number): SpamRateLevel | null {
  if (rate >= HIGH_SPAM_RATE) return 'high'
  return rate >= RAISED_SPAM_RATE ? 'raised' : null
}

/** The rate of a domain at a provider. */
export type SpamRateSubject = { workspaceId: string; domain: string; provider: string }

/** A spam rate that is known. What is not known is never recorded, and ends no alert. */
export type KnownSpamRate = SpamRateSubject & {
  /** 0 to 1. */
  rate: number
  level: SpamRateLevel | null
  providerName: string
  /** Of what the rate is made, as a sentence. */
  basis: string
}

/** `0.12%`. */
export function rateText(rate: number): string {
  return `${(rate * 100).toFixed(2)}%`
}
