export type AppendWindow = {
  /**
   * Resolves in the order of the calls when there is space. A message larger than the window gets
   * all of it.
   */
  acquire(bytes: number): Promise<void>
  release(bytes: number): void
}

/** Limits the commands and bytes that wait for a response. */
export function createAppendWindow(limit: { commands: number; bytes: number }): AppendWindow {
  const waiting: { bytes: number; enter: () => void }[] = []
  let commands = 0
  let used = 0

  function admit(): void {
    for (let next = waiting[0]; next && hasRoom(next.bytes); next = waiting[0]) {
      waiting.shift()
      commands += 1
      used += next.bytes
      next.enter()
    }
  }

  function hasRoom(bytes: number): boolean {
    return commands === 0 || (commands < limit.commands && used + bytes <= limit.bytes)
  }

  return {
    async acquire(bytes) {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push({ bytes, enter: resolve })
      admit()
      return promise
    },
    release(bytes) {
      commands -= 1
      used -= bytes
      admit()
    },
  }
}
