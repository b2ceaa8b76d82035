import { useSyncExternalStore } from 'react'
import { messages } from '../messages.ts'
import { hourAgoText, minuteText } from './dates.ts'
import { Time } from './time.tsx'

const MINUTE_MS = 60_000

/** A relative time that is known only to the hour. */
export function HourAgo({ at }: { at: string }) {
  const now = useSyncExternalStore(subscribe, () => Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS)
  const date = new Date(at)
  return (
    <Time at={at} title={messages.time.inHourFrom(minuteText(date))}>
      {hourAgoText(date, now)}
    </Time>
  )
}

function subscribe(listener: () => void): () => void {
  const timer = setInterval(listener, MINUTE_MS)
  return () => clearInterval(timer)
}
