import { useSyncExternalStore } from 'react'
import { messages } from '../messages.ts'

const HOUR = 3_600_000
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'short' })

/** A relative time that is known only to the hour. */
export function HourAgo({ at }: { at: string }) {
  const hours = useSyncExternalStore(subscribe, () =>
    Math.floor((Date.now() - Date.parse(at)) / HOUR),
  )
  return (
    <time dateTime={at} title={messages.time.inHourFrom(EXACT.format(new Date(at)))}>
      {hoursText(hours, new Date(at))}
    </time>
  )
}

function hoursText(hours: number, date: Date): string {
  if (hours < 1) return messages.time.withinLastHour
  if (hours < 24) return hours === 1 ? messages.time.hourAgo : messages.time.hoursAgo(hours)
  return DAY.format(date)
}

function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, HOUR / 60)
  return () => clearInterval(timer)
}
