import type { ServerResponse } from 'node:http'
import { DELAYED, DELAYED_PER_ENDPOINT } from './limits.ts'

export type Delays = {
  /** Calls `then` after so many seconds, unless the sender leaves; false when too many wait already. */
  wait(endpointId: string, seconds: number, response: ServerResponse, then: () => void): boolean
  /** Lets everybody go on now, and nobody wait any more. */
  end(): void
}

/** Answers that wait for their time. */
export function createDelays(): Delays {
  const waiting = new Map<string, number>()
  const all = new Set<() => void>()
  let hasEnded = false

  return {
    wait(endpointId, seconds, response, then) {
      const ofThis = waiting.get(endpointId) ?? 0
      if (hasEnded || ofThis >= DELAYED_PER_ENDPOINT || all.size >= DELAYED) return false
      waiting.set(endpointId, ofThis + 1)
      const finish = () => {
        if (!all.delete(finish)) return
        clearTimeout(timer)
        const left = (waiting.get(endpointId) ?? 1) - 1
        if (left > 0) waiting.set(endpointId, left)
        else waiting.delete(endpointId)
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
