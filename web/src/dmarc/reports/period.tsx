import { shared } from '../messages.ts'

const DAY = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  timeZone: 'UTC',
})
const MINUTE = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'long',
  timeStyle: 'short',
  timeZone: 'UTC',
})

/** The UTC days that a report covers; hovering shows the exact times. */
export function PeriodText({ begin, end }: { begin: string; end: string }) {
  const first = DAY.format(new Date(begin))
  // A report that ends at midnight does not cover the day that begins then.
  const last = DAY.format(new Date(Math.max(Date.parse(begin), Date.parse(end) - 1)))
  const exact = shared.exactPeriod(MINUTE.format(new Date(begin)), MINUTE.format(new Date(end)))
  return <time title={exact}>{first === last ? first : `${first} – ${last}`}</time>
}
