import { MINUTE_MS } from '../../time.ts'

/** ISO 8601, extended or basic, with a zone or without. */
const ISO_8601 =
  /^(\d{4})-?(\d{2})-?(\d{2})(?:[T ](\d{2}):?(\d{2})(?::?(\d{2})(?:[.,]\d+)?)?)? ?(?:(Z|UTC|GMT)|([+-])(\d{2})(?::?(\d{2}))?)?$/i

/** Ends in a zone, without which JavaScript reads a time in the zone of this server. */
const HAS_ZONE = /(?:GMT|UTC|Z|[+-]\d{4})$/

/**
 * Parses the time of a report. A time without a zone is in UTC.
 * @param text a time in ISO 8601 or RFC 5322
 * @returns milliseconds since 1970; null for text that is not a time
 */
export function parseReportTime(text: string): number | null {
  const match = ISO_8601.exec(text.trim())
  if (!match) return HAS_ZONE.test(text.trim()) ? finite(Date.parse(text)) : null
  const [, year, month, day, hour = 0, minute = 0, second = 0, , sign, hours = 0, minutes = 0] =
    match
  const parts = [year, month, day, hour, minute, second].map(Number)
  const [y = 0, m = 0, d = 0, ...clock] = parts
  const local = new Date(Date.UTC(y, m - 1, d, ...clock))
  const read = [local.getUTCFullYear(), local.getUTCMonth() + 1, local.getUTCDate(), local.getUTCHours(), local.getUTCMinutes(), local.getUTCSeconds()] // prettier-ignore
  // JavaScript turns 30 February into 2 March.
  if (!read.every((value, index) => value === parts[index])) return null
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS
  return local.getTime() - (sign === '-' ? -offset : offset)
}

const finite = (time: number) => (Number.isNaN(time) ? null : time)
