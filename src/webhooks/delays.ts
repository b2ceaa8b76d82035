import type { ServerResponse } from 'node:http'
import { DELAYED, DELAYED_PER_ACCOUNT, DELAYED_PER_ENDPOINT } from './limits.ts'

export type Delays = {
  /**
   * Calls `then` after so many seconds, unless the sender leaves; false when too many wait already: of this endpoint, of its
   * account, or at all.
   */
  wait(who: { id: string; accountId: string }, seconds: number, response: ServerResponse, then: () => void): boolean
  /** Lets everybody go on now, and nobody wait any more. */
  end(): void
}

/** Answers that wait for their time. */
export function createDelays(): Delays {
  const waiting = new Map<string, number>()
  const all = new Set<() => void>()
  let hasEnded = false

  return {
    wait({ id, accountId }, seconds, response, then) {
      const countOf = (key: string) => waiting.get(key) ?? 0
      const isFull =
        countOf(id) >= DELAYED_PER_ENDPOINT || countOf(accountId) >= DELAYED_PER_ACCOUNT || all.size >= DELAYED
      if (hasEnded || isFull) return false
      for (const key of [id, accountId]) waiting.set(key, countOf(key) + 1)
      const finish = () => {
        if (!all.delete(finish)) return
        clearTimeout(timer)
        for (const key of [id, accountId]) {
          if (countOf(key) > 1) waiting.set(key, countOf(key) - 1)
          else waiting.delete(key)
        }
        if (!response.destroyed) then()
      }
      const timer = setTimeout(finish, seconds * 1000)
      response.once('close', finish)
      all.add(finish)
      return true
    },
    end() {
      hasEnded = true
      for (const finish of all) finish()
    },
  }
}
