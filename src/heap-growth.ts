import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** V8 would grow it to 64 MB. More than this costs memory and saves no measurable time. */
const MAX_YOUNG_BYTES = 16 * 1024 ** 2

/**
 * How far the heap may grow beyond the objects in use before V8 collects all of it. V8 allows up to
 * 300%: objects that live as long as one mailbox is copied would fill that with garbage, and V8
 * returns little of such memory later.
 */
const GROWTH_PERCENT = 70

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
 * Lets V8’s heap grow with the load, within limits: the young generation up to a size, the whole in
 * proportion to the objects in use. V8 has these limits only as options of the command line, which
 * whoever starts the program would have to know.
 */
export function limitHeapGrowth(): void {
  if (observer) return
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  let nextCheck = 0
  // It is announced after each collection, and V8 grows it only in a collection.
  observer = new PerformanceObserver(() => {
    if (performance.now() < nextCheck) return
    const isFull = youngBytes() >= MAX_YOUNG_BYTES
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
