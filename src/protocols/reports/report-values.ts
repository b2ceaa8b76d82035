import { isIPv4 } from 'node:net'
import { domainToASCII } from 'node:url'
import { parseAddress } from '../../net/address.ts'
import { parseIsoTime } from '../../time.ts'

/**
 * Characters that XML 1.0 forbids and reporters send all the same, and halves of characters from
 * JSON: no database takes them.
 */
export function printable(text: string): string {
  return text.toWellFormed().replaceAll(FORBIDDEN, '')
}

// oxlint-disable-next-line no-control-regex
const FORBIDDEN = /[\0-\x08\v\f\x0e-\x1f\ufffe\uffff]/g

/** Nothing for an empty text. */
export function orNull(text: string | null | undefined): string | null {
  return text || null
}

/** RFC words are compared in lower case: reporters write Pass and None. */
export function wordOf(text: string | null | undefined): string | null {
  return orNull(text?.toLowerCase())
}

/** In lower case, as an A-label where it is a name, without the final dot. */
export function domainOf(text: string | null | undefined): string | null {
  if (!text) return null
  const name = (text.endsWith('.') ? text.slice(0, -1) : text).toLowerCase()
  // Only names with non-ASCII characters need the slow conversion. Invalid names stay unchanged.
  return ASCII.test(name) ? name || null : domainToASCII(name) || name
}

// oxlint-disable-next-line no-control-regex
const ASCII = /^[\0-\x7f]*$/

/**
 * The address in its canonical form, without brackets or port; IPv4 in IPv6 as IPv4. Null when it
 * is none.
 */
export function addressOf(text: string): string | null {
  if (isIPv4(text)) return text
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^([\d.]+):\d+$/.exec(text)?.[1] ?? text
  const address = parseAddress(bare)?.address ?? null
  const mapped = /^::ffff:([\da-f]{1,4}):([\da-f]{1,4})$/.exec(address ?? '')
  if (!mapped) return address
  const bytes = [mapped[1], mapped[2]].map((group) => Number.parseInt(group ?? '', 16))
  return bytes.flatMap((group) => [group >> 8, group & 255]).join('.')
}

/**
 * A count of messages or sessions; null for invalid or negative numbers, or those beyond 2³¹ − 1.
 */
export function countOf(value: unknown): number | null {
  const count = typeof value === 'string' && /^\d{1,10}$/.test(value) ? Number(value) : value
  return Number.isInteger(count) && (count as number) >= 0 && (count as number) < 2 ** 31
    ? (count as number)
    : null
}

/** The end of the year 9999. */
const LATEST_TIME_MS = 253_402_300_799_999

/**
 * Seconds since 1970, also with a fraction, also in milliseconds, or a date as RFC 3339 writes it.
 * Without a zone it is in UTC, as all times of reports (RFC 9990, RFC 8460), wherever this runs.
 */
export function timeOf(value: unknown): Date | null {
  if (typeof value !== 'string') return null
  const number = /^\d{1,15}(?:\.\d*)?$/.test(value) ? Number(value) : null
  // 100,000,000,000 seconds are the year 5138: so large a number is milliseconds.
  const time = number === null ? parseIsoTime(value) : number > 1e11 ? number : number * 1000
  if (time === null || time < 0 || time > LATEST_TIME_MS) return null
  return new Date(Math.trunc(time))
}
