import type { Logger } from '../log.ts'
import { SECOND_MS } from '../time.ts'
import type { Notifications } from './notifications.ts'

/** Data of the database in memory, which each notification loads again. */
export type Mirror = {
  /** Resolves when the changes that were committed until now are loaded, or could not be. */
  reload: () => Promise<void>
  close: () => void
}

const RETRY_MS = SECOND_MS

/**
 * Loads data, and again after each notification of one channel. Loads follow one another, so that an
 * older answer never replaces a newer one; one that fails is repeated.
 * @param load reads the data and puts it in place
 * @throws errors of the first load
 */
export async function createMirror(
  { notifications, log }: { notifications: Notifications; log: Logger },
  channel: string,
  load: () => Promise<void>,
): Promise<Mirror> {
  let last: Promise<unknown> = Promise.resolve()
  /** A load that has not begun: it will see every change until then. */
  let waiting: Promise<void> | undefined
  let retry: NodeJS.Timeout | undefined
  let isClosed = false

  function enqueue(): Promise<void> {
    if (waiting) return waiting
    const loading = last.then(() => {
      waiting = undefined
      return load()
    })
    waiting = loading
    last = loading.catch(() => {})
    return loading
  }

  function reload(): Promise<void> {
    return enqueue().catch((err: unknown) => {
      if (isClosed) return
      log.warn({ err, channel }, 'data in memory could not be reloaded; retrying')
      clearTimeout(retry)
      retry = setTimeout(() => void reload(), RETRY_MS).unref()
    })
  }

  function close(): void {
    isClosed = true
    clearTimeout(retry)
    stops.forEach((stop) => stop())
  }

  // Before the first load, so that no change is missed.
  const stops = [
    notifications.on(channel, () => void reload()),
    notifications.onReconnect(() => void reload()),
  ]
  await enqueue().catch((error: unknown) => {
    close()
    throw error
  })
  return { reload, close }
}
