import { onAbort } from '../../../net/abort.ts'

/**
 * The folders that share a connection. One at which it breaks leaves, and continues when the others
 * have left: otherwise it would end their commands again and again.
 */
export type ConnectionSharing = {
  enter(): void
  leave(): void
  /**
   * Resolves when no folder shares the connection.
   * @throws the signal’s reason
   */
  empty(signal: AbortSignal): Promise<void>
}

export function createConnectionSharing(): ConnectionSharing {
  let folders = 0
  let left = Promise.withResolvers<void>()
  const isShared = () => folders > 0

  return {
    enter() {
      folders += 1
    },
    leave() {
      folders -= 1
      left.resolve()
      left = Promise.withResolvers()
    },
    async empty(signal) {
      while (isShared()) {
        signal.throwIfAborted()
        const { promise, resolve } = left
        const stop = onAbort([signal], resolve)
        await promise
        stop()
      }
    },
  }
}
