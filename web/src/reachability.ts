import { useSyncExternalStore } from 'react'
import { inService } from './base-path.ts'

/** Answers 200 when the service and its database work. */
const READINESS_PATH = '/readyz'

/** Milliseconds between two readiness requests while the service does not answer. */
const PROBE_PACE = { first: 500, times: 1.5, most: 5_000 }

const PROBE_TIMEOUT_MS = 5_000

type Watcher = (isReachable: boolean) => void

const watchers = new Set<Watcher>()
let isReachable = true
let probing: Promise<void> | null = null
let skipPause: (() => void) | null = null

/**
 * Finds out whether the service works, after a request got no response or one of a proxy. If it
 * does not, asks again until it does.
 * @returns whether it works
 */
export async function checkReachable(): Promise<boolean> {
  if (!probing) {
    const isReady = await probe()
    setReachable(isReady)
    if (!isReady) probing ??= probeUntilReady().finally(() => (probing = null))
  }
  return isReachable
}

/** Resolves once the service works. */
export async function whenReachable(): Promise<void> {
  if (!(await checkReachable())) await probing
}

async function probeUntilReady(): Promise<void> {
  let pause = PROBE_PACE.first
  while (!isReachable) {
    await pauseFor(pause)
    pause = Math.min(PROBE_PACE.most, pause * PROBE_PACE.times)
    setReachable(await probe())
  }
}

/** Waits; a tab that comes into view, or a device that is online again, does not wait. */
function pauseFor(milliseconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, milliseconds)
  skipPause = resolve
  return promise.finally(() => {
    clearTimeout(timer)
    skipPause = null
  })
}

async function probe(): Promise<boolean> {
  const signal = AbortSignal.timeout(PROBE_TIMEOUT_MS)
  const response = await fetch(inService(READINESS_PATH), { cache: 'no-store', signal }).catch(
    () => null,
  )
  return response?.ok === true
}

function setReachable(now: boolean): void {
  if (now === isReachable) return
  isReachable = now
  watchers.forEach((watcher) => watcher(now))
}

/**
 * Calls the watcher when the service stops answering, and when it answers again.
 * @returns a function that ends it
 */
export function watchReachability(watcher: Watcher): () => void {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}

export function useIsReachable(): boolean {
  return useSyncExternalStore(watchReachability, () => isReachable)
}

/** Follows what the browser itself knows about the connection. Called once per tab. */
export function followBrowserConnection(): void {
  window.addEventListener('offline', () => void checkReachable())
  window.addEventListener('online', () => skipPause?.())
  document.addEventListener('visibilitychange', () => document.hidden || skipPause?.())
}
