const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })
const MINUTE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })

/** The UTC days that a report is about; the minutes show on pointing at it. */
export function PeriodText({ begin, end }: { begin: string; end: string }) {
  const first = DAY.format(new Date(begin))
  // A report that ends at midnight says nothing of the day that begins then.
  const last = DAY.format(new Date(Math.max(Date.parse(begin), Date.parse(end) - 1)))
  const minutes = `${MINUTE.format(new Date(begin))} to ${MINUTE.format(new Date(end))}, UTC`
  return <time title={minutes}>{first === last ? first : `${first} – ${last}`}</time>
}
