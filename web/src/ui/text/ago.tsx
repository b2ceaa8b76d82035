import { useSyncExternalStore } from 'react'
import { agoText, remainingText, secondOfDayText, untilText } from './dates.ts'
import { Time } from './time.tsx'

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

const useNow = () => useSyncExternalStore(subscribe, () => Math.floor(Date.now() / TICK) * TICK)

/** A relative time that updates by itself. Hovering shows the exact time. */
export function Ago({ at }: { at: string }) {
  return <Time at={at}>{agoText(new Date(at), useNow())}</Time>
}

/** The second of an event, for lists of events that follow each other closely. */
export function SecondOfDay({ at }: { at: string }) {
  return <Time at={at}>{secondOfDayText(new Date(at), useNow())}</Time>
}

/** How long something still lasts. */
export function Remaining({ at }: { at: string }) {
  return <Time at={at}>{remainingText(new Date(at), useNow())}</Time>
}

/** The same for a time to come. */
export function Until({ at }: { at: string }) {
  return <Time at={at}>{untilText(new Date(at), useNow())}</Time>
}
