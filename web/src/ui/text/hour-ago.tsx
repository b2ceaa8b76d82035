import { useSyncExternalStore } from 'react'

const HOUR = 3_600_000
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short' })

/** A time that is known to the hour only, as how long ago that was. */
export function HourAgo({ at }: { at: string }) {
  const hours = useSyncExternalStore(subscribe, () => Math.floor((Date.now() - Date.parse(at)) / HOUR))
  return (
    <time dateTime={at} title={`In the hour from ${EXACT.format(new Date(at))}`}>
      {hoursText(hours, new Date(at))}
    </time>
  )
}

function hoursText(hours: number, date: Date): string {
  if (hours < 1) return 'within the last hour'
  if (hours < 24) return hours === 1 ? 'an hour ago' : `${hours} hours ago`
  return DAY.format(date)
}

function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, HOUR / 60)
  return () => clearInterval(timer)
}
