import { parseIsoTime } from '../../time.ts'

/** With a zone, without which JavaScript reads a time in the zone of this server. */
const RFC_5322 = /^(?:[a-z]{3}, ?)?\d{1,2} [a-z]{3} .*(?:GMT|UTC|Z|[+-]\d{4})$/i

/**
 * Parses the time of a report. A time without a zone is in UTC.
 * @param text a time in ISO 8601 or RFC 5322
 * @returns milliseconds since 1970; null for text that is not a time
 */
export function parseReportTime(text: string): number | null {
  const trimmed = text.trim()
  const time = parseIsoTime(trimmed) ?? (RFC_5322.test(trimmed) ? Date.parse(trimmed) : null)
  return Number.isNaN(time) ? null : time
}
