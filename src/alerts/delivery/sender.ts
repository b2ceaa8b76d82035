import type { Notifications } from '../../store/notifications.ts'
import { POLL_INTERVAL_MS, SENDER_STOP_GRACE_MS } from '../limits.ts'
import { ALERT_RAISED } from '../raise.ts'
import { deliverDue, type DeliveryDeps } from './deliver-alerts.ts'

/**
 * Sends alerts as they become due; any number of instances share the work.
 * @returns stops it: messages in transit are finished, or released after a grace period
 */
export function startSender(deps: DeliveryDeps, notifications: Notifications): () => Promise<void> {
  const [stopping, cutting] = [new AbortController(), new AbortController()]
  const signals = { stop: stopping.signal, cut: cutting.signal }
  let woken = Promise.withResolvers<void>()
  const wake = () => woken.resolve()
  const unsubscribe = [notifications.on(ALERT_RAISED, wake), notifications.onReconnect(wake)]

  /** Resolves when an alert was raised, or after the poll interval. */
  async function wokenOrDue(): Promise<void> {
    const timer = setTimeout(wake, Math.min(POLL_INTERVAL_MS, Math.max(deps.batching.holdMs, 50)))
    await woken.promise
    clearTimeout(timer)
    woken = Promise.withResolvers()
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await deliverDue(deps, signals, wokenOrDue).catch((error: unknown) =>
        deps.log.warn({ err: error }, 'due alerts could not be queried'),
      )
      if (!stopping.signal.aborted) await wokenOrDue()
    }
  }

  const running = run()
  return async () => {
    stopping.abort()
    unsubscribe.forEach((stop) => stop())
    wake()
    // An email aborted in the middle may have arrived or not, so it gets time to finish.
    const timer = setTimeout(() => cutting.abort(), SENDER_STOP_GRACE_MS)
    await running
    clearTimeout(timer)
  }
}
