import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** V8 would grow it to 64 MB. More than this costs memory and saves no measurable time. */
const MAX_BYTES = 16 * 1024 ** 2

/** Milliseconds between two checks of one that is full size: V8 shrinks it when little happens. */
const RECHECK_MS = 10_000

let observer: PerformanceObserver | undefined

/**
 * Keeps V8’s young generation at its first size, two megabytes: the modules that are loaded at the
 * start would make it grow, and it would stay so.
 */
export function holdYoungGeneration(): void {
  allowGrowth(false)
}

/**
 * Lets V8’s young generation grow with the load, within a limit. V8 has that limit only as an option
 * of the command line, which whoever starts the program would have to know.
 */
export function limitYoungGeneration(): void {
  if (observer) return
  let nextCheck = 0
  // It is announced after each collection, and V8 grows it only in a collection.
  observer = new PerformanceObserver(() => {
    if (performance.now() < nextCheck) return
    const isFull = youngBytes() >= MAX_BYTES
    allowGrowth(!isFull)
    if (isFull) nextCheck = performance.now() + RECHECK_MS
  })
  observer.observe({ entryTypes: ['gc'] })
}

function allowGrowth(isAllowed: boolean): void {
  setFlagsFromString(`--semi-space-growth-factor=${isAllowed ? 2 : 1}`)
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0
}
