import type { Notifications } from '../../store/notifications.ts'
import { LOOK_EVERY, STOP_PATIENCE } from '../limits.ts'
import { RAISED } from '../raise.ts'
import { deliverDue, type DeliverDeps } from './deliver.ts'

/**
 * Sends alerts as they come due, until it is stopped; any number of instances share the work.
 * @returns how to stop it: what is being sent is finished or given back
 */
export function startSender(deps: DeliverDeps, notifications: Notifications): () => Promise<void> {
  const [stopping, cutting] = [new AbortController(), new AbortController()]
  const ending = { stop: stopping.signal, cut: cutting.signal }
  let woken = Promise.withResolvers<void>()
  const wake = () => woken.resolve()
  const unsubscribe = [notifications.on(RAISED, wake), notifications.onReconnect(wake)]

  /** A word that something was raised, or some seconds without one. */
  async function nudged(): Promise<void> {
    woken = Promise.withResolvers()
    const timer = setTimeout(wake, Math.min(LOOK_EVERY, Math.max(deps.patience.hold, 50)))
    await woken.promise
    clearTimeout(timer)
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      woken = Promise.withResolvers()
      await deliverDue(deps, ending, nudged).catch((error: unknown) =>
        deps.log.warn({ err: error }, 'alerts could not be looked for'),
      )
      const timer = setTimeout(wake, Math.min(LOOK_EVERY, Math.max(deps.patience.hold, 50)))
      if (!stopping.signal.aborted) await woken.promise
      clearTimeout(timer)
    }
  }

  const running = run()
  return async () => {
    stopping.abort()
    unsubscribe.forEach((stop) => stop())
    wake()
    // A mail that is cut off in the middle is one of which nobody knows whether it arrived.
    const timer = setTimeout(() => cutting.abort(), STOP_PATIENCE)
    await running
    clearTimeout(timer)
  }
}
