import { parseHttpDate, SECOND_MS } from '../../time.ts'

/**
 * Milliseconds in `Retry-After`, a number of seconds or a date (RFC 9110, 10.2.3): negative for a date
 * in the past, null without either.
 */
export function retryAfterMs(header: string | null, now: number): number | null {
  const text = header?.trim() ?? ''
  if (/^\d{1,9}$/.test(text)) return Number(text) * SECOND_MS
  const at = parseHttpDate(text)
  return at === null ? null : at - now
}

/** Whole seconds in `Retry-After`, rounded up: 0 for a date in the past, null without any. */
export function retryAfterSeconds(header: string | null): number | null {
  const milliseconds = retryAfterMs(header, Date.now())
  return milliseconds === null ? null : Math.max(0, Math.ceil(milliseconds / SECOND_MS))
}
