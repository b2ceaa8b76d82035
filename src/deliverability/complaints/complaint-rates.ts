import { MIN_RATED_COMPLAINTS, RATED_DAYS } from '../limits.ts'
import { levelOf, type SpamRateLevel } from '../spam-rates/spam-rate.ts'

/** A day on which a provider can have reported complaints; null where no report counts its mail. */
export type RatedDay = { day: string; complaints: number; messages: number | null }

export type ComplaintRate = {
  complaints: number
  messages: number
  /** 0 to 1. */
  rate: number
  level: SpamRateLevel | null
}

/**
 * The share of complaints among the messages that the provider’s own DMARC reports count, over the
 * days that they cover. Null without such a day: a rate that is not known is not 0.
 */
export function rateOf(days: readonly RatedDay[]): ComplaintRate | null {
  let [complaints, messages] = [0, 0]
  for (const day of days) {
    if (day.messages === null) continue
    complaints += day.complaints
    messages += day.messages
  }
  if (messages === 0) return null
  const rate = Math.min(1, complaints / messages)
  return {
    complaints,
    messages,
    rate,
    level: complaints < MIN_RATED_COMPLAINTS ? null : levelOf(rate),
  }
}

/** The last days that are known: reports come a day or two later. */
export function recentRate(days: readonly RatedDay[]): ComplaintRate | null {
  return rateOf(days.filter(({ messages }) => messages !== null).slice(-RATED_DAYS))
}
