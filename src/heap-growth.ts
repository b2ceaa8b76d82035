import { PerformanceObserver } from 'node:perf_hooks'
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8'

/** Of a process that only runs jobs. V8 would grow it to 64 MB, which saves those no time. */
const MAX_YOUNG_BYTES = 16 * 1024 ** 2

/**
 * How far the heap may grow beyond the objects in use before V8 collects all of it. V8 allows up to
 * 300%: objects that live as long as one mailbox is copied would fill that with garbage, and V8
 * returns little of such memory later.
 */
const GROWTH_PERCENT = 70

let isLimited = false

/**
 * Keeps V8’s young generation at its first size, two megabytes: the modules that are loaded at the
 * start would make it grow, and it would stay so.
 */
export function holdYoungGeneration(): void {
  allowGrowth(false)
}

/**
 * Lets V8’s heap grow with the load, within limits: the whole in proportion to the objects in use,
 * and the young generation of a process that only runs jobs up to a size. V8 has these limits only
 * as options of the command line, which whoever starts the program would have to know.
 * @param servesRequests whether V8 may choose the size of the young generation: requests that wait
 *   for a commit together would be moved by each collection of a small one
 */
export function limitHeapGrowth({ servesRequests = false } = {}): void {
  if (isLimited) return
  isLimited = true
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`)
  allowGrowth(true)
  if (!servesRequests) boundYoungGeneration()
}

/** The size is announced after each collection, and V8 grows it only in a collection. */
function boundYoungGeneration(): void {
  const observer = new PerformanceObserver(() => allowGrowth(youngBytes() < MAX_YOUNG_BYTES))
  observer.observe({ entryTypes: ['gc'] })
}

function allowGrowth(isAllowed: boolean): void {
  setFlagsFromString(`--semi-space-growth-factor=${isAllowed ? 2 : 1}`)
}

function youngBytes(): number {
  return getHeapSpaceStatistics().find((space) => space.space_name === 'new_space')?.space_size ?? 0
}
