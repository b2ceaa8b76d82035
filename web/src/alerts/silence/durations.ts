import { durations as messages } from './messages.ts'

const MINUTE_MS = 60_000
const HOUR_MINUTES = 60
const DAY_MINUTES = 24 * HOUR_MINUTES

/** What the API calls the end of a snooze or mute; neither for a mute without an end. */
export type Duration = { minutes?: number; until?: string }

export type DurationChoice = { value: string; label: string }

/** A date and time that the user enters, and no end. */
export const CHOSEN_TIME = 'chosen-time'
const NO_END = 'no-end'

const chosenTime = { value: CHOSEN_TIME, label: messages.chosenTime }
const choice = (minutes: number, label: string) => ({ value: String(minutes), label })
const { hour, hours, day, week, days, noEnd } = messages

export const SNOOZE_CHOICES: DurationChoice[] = [
  choice(HOUR_MINUTES, hour),
  choice(4 * HOUR_MINUTES, hours(4)),
  choice(DAY_MINUTES, day),
  choice(7 * DAY_MINUTES, week),
  chosenTime,
]

export const MUTE_CHOICES: DurationChoice[] = [
  { value: NO_END, label: noEnd },
  choice(DAY_MINUTES, day),
  choice(7 * DAY_MINUTES, week),
  choice(30 * DAY_MINUTES, days(30)),
  chosenTime,
]

/** Longest durations that the API accepts, in days. */
export const MAX_SNOOZE_DAYS = 30
export const MAX_MUTE_DAYS = 366
const MIN_MINUTES = 15

/** The duration that the fields of a form say. */
export function durationOf({ duration = '', until = '' }: Record<string, string>): Duration {
  if (duration === NO_END) return {}
  return duration === CHOSEN_TIME
    ? { until: new Date(until).toISOString() }
    : { minutes: Number(duration) }
}

/** Problems of these fields by name. */
export function durationProblems(
  { duration, until = '' }: Record<string, string>,
  maxDays: number,
): Record<string, string> {
  if (duration !== CHOSEN_TIME) return {}
  const minutes = (Date.parse(until) - Date.now()) / MINUTE_MS
  const isInRange = minutes >= MIN_MINUTES && minutes <= maxDays * DAY_MINUTES
  return isInRange ? {} : { until: messages.outOfRange(MIN_MINUTES, maxDays) }
}

/** The value of a field for a date and time: `2026-11-26T14:00`, in the time zone of the reader. */
export function localMinute(date: Date): string {
  const local = new Date(date.getTime() - date.getTimezoneOffset() * MINUTE_MS)
  return local.toISOString().slice(0, 16)
}

/** The same time tomorrow, to the hour. */
export function tomorrow(now = new Date()): Date {
  const date = new Date(now.getTime() + DAY_MINUTES * MINUTE_MS)
  date.setMinutes(0, 0, 0)
  return date
}
