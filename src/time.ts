/** Milliseconds of the units of time. */
export const SECOND_MS = 1_000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** Seconds of the units of time. */
export const MINUTE_SECONDS = 60
export const HOUR_SECONDS = 60 * MINUTE_SECONDS
export const DAY_SECONDS = 24 * HOUR_SECONDS

/** The same time months before: on the last day of a month that is too short. */
export function monthsBefore(date: Date, months: number): Date {
  const before = new Date(date)
  before.setUTCMonth(before.getUTCMonth() - months)
  if (before.getUTCDate() !== date.getUTCDate()) before.setUTCDate(0)
  return before
}
