import type { ServerResponse } from 'node:http'
import type { Endpoint } from '../endpoints/endpoints.ts'
import {
  MAX_DELAYED_RESPONSES,
  MAX_DELAYED_PER_ACCOUNT,
  MAX_DELAYED_PER_ENDPOINT,
} from '../limits.ts'

export type DelayedResponses = {
  /**
   * Calls `then` after the endpoint’s delay, unless the sender disconnects. False when too many
   * responses wait already.
   */
  schedule(endpoint: DelayedEndpoint, response: ServerResponse, then: () => void): boolean
  /** Sends all waiting responses now, and delays no further ones. */
  flush(): void
}

type DelayedEndpoint = Pick<Endpoint, 'id' | 'responsibleId' | 'timeout'>

/** Creates the list of responses that wait for their delay. */
export function createDelayedResponses(): DelayedResponses {
  /** Waiting responses, counted by endpoint ID and by account ID. */
  const waiting = new Map<string, number>()
  const all = new Set<() => void>()
  let hasEnded = false

  const count = (id: string) => waiting.get(id) ?? 0

  function add(id: string, change: number): void {
    const now = count(id) + change
    if (now > 0) waiting.set(id, now)
    else waiting.delete(id)
  }

  return {
    schedule({ id, responsibleId, timeout }, response, then) {
      const isFull =
        count(id) >= MAX_DELAYED_PER_ENDPOINT || count(responsibleId) >= MAX_DELAYED_PER_ACCOUNT
      if (hasEnded || isFull || all.size >= MAX_DELAYED_RESPONSES) return false
      add(id, 1)
      add(responsibleId, 1)
      const finish = () => {
        if (!all.delete(finish)) return
        clearTimeout(timer)
        add(id, -1)
        add(responsibleId, -1)
        if (!response.destroyed) then()
      }
      const timer = setTimeout(finish, timeout * 1000)
      response.once('close', finish)
      all.add(finish)
      return true
    },
    flush() {
      hasEnded = true
      for (const finish of all) finish()
    },
  }
}
