import { setTimeout as sleep } from 'node:timers/promises'
import type { Notifications } from '../../store/notifications.ts'
import {
  FORWARDING_POLL_MS,
  MAX_CLAIMED_DESTINATIONS,
  MAX_RUNNING_REPLAYS,
  QUEUE_CHECK_INTERVAL_MS,
} from '../limits.ts'
import { DESTINATION_CHANGED, type DeliveriesNotifier } from './deliveries-notifier.ts'
import { dropHeld, releaseWronglyHeld } from './deliveries.sql.ts'
import { alertQueueChange } from './destination-alerts.ts'
import { claimDestinations, limitQueues, type ClaimedDestination } from './destinations.sql.ts'
import { continueReplays } from './replays.ts'
import { runDestination, type ForwardingDeps, type ForwardingLoad } from './run-destination.ts'

/** Milliseconds between two claims of destinations at least. */
const MIN_CLAIM_INTERVAL_MS = 20

/** Milliseconds for requests that are being sent when the service stops. */
const STOP_GRACE_MS = 5_000

/**
 * Forwards captured requests; any number of instances share the destinations.
 * @returns stops it: what is being sent is finished, or sent again later
 */
export function startForwarding(
  deps: ForwardingDeps,
  notifications: Notifications,
  deliveries: DeliveriesNotifier,
): () => Promise<void> {
  const { db, log } = deps
  const [stopping, cutting] = [new AbortController(), new AbortController()]
  const signals = { stop: stopping.signal, cut: cutting.signal }
  const running = new Map<string, { task: Promise<void>; wake: () => void; reload: () => void }>()
  const load: ForwardingLoad = {
    bytes: 0,
    isCrowded: () => running.size >= MAX_CLAIMED_DESTINATIONS,
    hasRoom: () => running.size < MAX_CLAIMED_DESTINATIONS / 2,
  }
  let woken = Promise.withResolvers<void>()

  /** @param destinations with new deliveries; null for any */
  function wake(destinations: readonly string[] | null): void {
    for (const id of destinations ?? running.keys()) running.get(id)?.wake()
    if (destinations?.every((id) => running.has(id)) !== true) woken.resolve()
  }
  const unsubscribe = [
    deliveries.onAdded(notifications, wake),
    // One that is paused sends nothing of what it has claimed.
    notifications.on(DESTINATION_CHANGED, (payload) =>
      running.get((payload as { id: string }).id)?.reload(),
    ),
  ]

  function start(destination: ClaimedDestination): void {
    const { id } = destination
    const run = runDestination(deps, destination, signals, load)
    const ended = run.done
      .catch((error: unknown) =>
        log.warn({ destination: id, err: error }, 'a destination was interrupted'),
      )
      .finally(() => {
        if (running.get(id) === entry) running.delete(id)
        // It may have become due while it ended.
        woken.resolve()
      })
    const entry = { task: ended, wake: run.wake, reload: run.reload }
    running.set(id, entry)
  }

  async function claim(): Promise<void> {
    const free = MAX_CLAIMED_DESTINATIONS - running.size
    if (free <= 0) return
    for (const destination of await claimDestinations(db, free)) start(destination)
  }

  async function work(): Promise<void> {
    let claimedAt = 0
    while (!stopping.signal.aborted) {
      // Destinations that cannot be claimed now are often notified about.
      const rest = claimedAt + MIN_CLAIM_INTERVAL_MS - performance.now()
      if (rest > 1) await sleep(rest)
      claimedAt = performance.now()
      woken = Promise.withResolvers()
      await claim().catch((error: unknown) =>
        log.warn({ err: error }, 'due destinations could not be queried'),
      )
      const timer = setTimeout(() => woken.resolve(), FORWARDING_POLL_MS)
      await woken.promise
      clearTimeout(timer)
    }
  }

  /** Queues the next pages of replays. */
  async function replay(): Promise<void> {
    while (!stopping.signal.aborted) {
      const found = await continueReplays(deps, MAX_RUNNING_REPLAYS).catch((error: unknown) => {
        log.warn({ err: error }, 'replays were not continued')
        return 0
      })
      if (found > 0) continue
      await sleep(FORWARDING_POLL_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  /** Keeps queues within their limits. One that is full or has room again is alerted about. */
  async function watchQueues(): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        for (const change of await limitQueues(db)) await alertQueueChange(db, change)
        await releaseWronglyHeld(db)
        await dropHeld(db)
      } catch (error) {
        log.warn({ err: error }, 'queues of destinations were not checked')
      }
      await sleep(QUEUE_CHECK_INTERVAL_MS, undefined, { signal: stopping.signal }).catch(() => {})
    }
  }

  const working = [work(), replay(), watchQueues()]
  return async () => {
    stopping.abort()
    unsubscribe.forEach((stop) => stop())
    wake(null)
    const timer = setTimeout(() => cutting.abort(), STOP_GRACE_MS)
    await Promise.all(working)
    await Promise.all(Array.from(running.values(), ({ task }) => task))
    clearTimeout(timer)
  }
}
