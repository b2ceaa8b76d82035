import { parseHttpDate, SECOND_MS } from '../../time.ts'

/** Seconds in `Retry-After`, a number or a date (RFC 9110, 10.2.3); null without either. */
export function retryAfterSeconds(header: string | null): number | null {
  if (header === null) return null
  if (/^\d{1,9}$/.test(header)) return Number(header)
  const at = parseHttpDate(header)
  return at === null ? null : Math.max(0, Math.ceil((at - Date.now()) / SECOND_MS))
}
