import { isAborted, onAbort } from './abort.ts'

export type Slots = {
  /** Waits for a free slot, first come first served; false when a signal aborts first. */
  acquire(notifications: AbortSignal[]): Promise<boolean>
  release(): void
}

/** At most `count` holders at once. */
export function createSlots(count: number): Slots {
  const queue = new Set<() => void>()
  let free = count
  return {
    async acquire(notifications) {
      if (isAborted(notifications)) return false
      if (free > 0) {
        free -= 1
        return true
      }
      return new Promise((resolve) => {
        const leave = onAbort(notifications, () => settle(false))
        const mine = () => settle(true)
        function settle(mayGo: boolean): void {
          leave()
          queue.delete(mine)
          resolve(mayGo)
        }
        queue.add(mine)
      })
    },
    release() {
      const [next] = queue
      if (next) next()
      else free += 1
    },
  }
}
