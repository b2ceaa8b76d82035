import { epochMsOf } from '../../net/imap/append/flags-and-dates.ts'
import type { Metadata } from '../../net/imap/fetch/fetch-metadata.ts'

/** The messages to copy; bounds that are not given do not apply. */
export type MessageFilter = {
  minBytes?: number
  maxBytes?: number
  /** Dates at the source (INTERNALDATE), in milliseconds since 1970. */
  notBefore?: number
  notAfter?: number
  /** Copy no message, only folders. */
  none?: boolean
}

/** Whether a message passes the filter. An unknown size or date passes. */
export function passesFilter(
  { size, internalDate }: Pick<Metadata, 'size' | 'internalDate'>,
  {
    minBytes = 0,
    maxBytes = Infinity,
    notBefore = -Infinity,
    notAfter = Infinity,
    none,
  }: MessageFilter,
): boolean {
  if (none) return false
  if (size !== null && (size < minBytes || size > maxBytes)) return false
  const moment = internalDate === null ? null : epochMsOf(internalDate)
  return moment === null || (moment >= notBefore && moment <= notAfter)
}
