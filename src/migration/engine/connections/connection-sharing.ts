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
      const aborted = new Promise((resolve) =>
        signal.addEventListener('abort', resolve, { once: true }),
      )
      while (folders > 0 && !signal.aborted) await Promise.race([left.promise, aborted])
      signal.throwIfAborted()
    },
  }
}
