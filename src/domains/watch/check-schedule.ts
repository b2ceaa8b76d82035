import { DAY_MS, HOUR_MS, startOfDay } from '../../time.ts'

/** Hours that must pass between two daily checks of a domain. */
const MIN_INTERVAL_MS = 12 * HOUR_MS

/** The next daily check of a domain: its own time of day, so that checks are spread over the day. */
export function nextCheckAt(id: string, after: Date): Date {
  const share = Number.parseInt(id.replaceAll('-', '').slice(-8), 16) / 2 ** 32
  const earliest = after.getTime() + MIN_INTERVAL_MS
  const today = startOfDay(earliest) + Math.floor(share * DAY_MS)
  return new Date(today >= earliest ? today : today + DAY_MS)
}
