export type AppendWindow = {
  /** Resolves, first come first served, when there is room. Whatever is larger than the window has it alone. */
  acquire(bytes: number): Promise<void>
  release(bytes: number): void
}

/** How much may be under way without an answer, in commands and in bytes. */
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
