import { useSyncExternalStore } from 'react'
import { messages } from '../messages.ts'

const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeStyle: 'medium' })
const CLOCK = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' })
const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const YEAR = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })

/** Milliseconds between two updates, with one timer for all components. */
const TICK = 10_000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(() => listeners.forEach((each) => each()), TICK)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** A relative time that updates by itself. Hovering shows the exact time. */
export function Ago({ at }: { at: string }) {
  const now = useSyncExternalStore(subscribe, () => Math.floor(Date.now() / TICK) * TICK)
  const date = new Date(at)
  return (
    <time dateTime={at} title={EXACT.format(date)}>
      {agoText(date, now)}
    </time>
  )
}

/** The exact time with seconds. */
export function ExactTime({ at }: { at: string }) {
  return <time dateTime={at}>{EXACT.format(new Date(at))}</time>
}

/** @param now milliseconds since 1970 */
export function agoText(date: Date, now: number): string {
  const minutes = Math.floor((now - date.getTime()) / 60_000)
  if (minutes < 1) return messages.time.justNow
  if (minutes < 60) return messages.time.minutesAgo(minutes)
  const today = new Date(now)
  if (date.toDateString() === today.toDateString()) return CLOCK.format(date)
  return (date.getFullYear() === today.getFullYear() ? DAY : YEAR).format(date)
}
