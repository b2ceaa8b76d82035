import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createDelays } from '../../src/webhooks/delays.ts'
import { DELAYED_PER_ACCOUNT, DELAYED_PER_ENDPOINT } from '../../src/webhooks/limits.ts'

describe('answers that wait', () => {
  const response = () => Object.assign(new EventEmitter(), { destroyed: false }) as unknown as ServerResponse

  it('of one account leave room for those of others, and make room when their senders leave', () => {
    const delays = createDelays()
    const held: ServerResponse[] = []
    const wait = (accountId: string, id: string) => {
      const one = response()
      const waits = delays.wait({ id, accountId }, 60, one, () => {})
      if (waits) held.push(one)
      return waits
    }
    let waiting = 0
    for (let endpoint = 0; endpoint < 20; endpoint++)
      for (let n = 0; n < DELAYED_PER_ENDPOINT; n++) waiting += Number(wait('alice', `a${endpoint}`))
    expect(waiting).toBe(DELAYED_PER_ACCOUNT)
    expect(wait('bob', 'b')).toBe(true)
    held[0]?.emit('close')
    expect(wait('alice', 'another')).toBe(true)
    expect(wait('alice', 'another')).toBe(false)
    delays.end()
  })
})
