import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createDelays } from '../../src/webhooks/delays.ts'
import { DELAYED, DELAYED_PER_ACCOUNT, DELAYED_PER_ENDPOINT } from '../../src/webhooks/limits.ts'

const response = () => new EventEmitter() as ServerResponse

describe('delayed answers', () => {
  it('leave room for other accounts, however many endpoints one has', () => {
    const delays = createDelays()
    const wait = (accountId: string, id: string) => delays.wait({ id, accountId, timeout: 30 }, response(), () => {})
    let taken = 0
    for (let endpoint = 0; endpoint < 100; endpoint++) {
      for (let request = 0; request < DELAYED_PER_ENDPOINT; request++) taken += Number(wait('one', `e${endpoint}`))
    }
    expect(taken).toBe(DELAYED_PER_ACCOUNT)
    expect(DELAYED_PER_ACCOUNT).toBeLessThan(DELAYED / 2)
    expect(wait('other', 'o')).toBe(true)
    delays.end()
  })

  it('give their room back when their senders leave', () => {
    const delays = createDelays()
    const waiting = Array.from({ length: DELAYED_PER_ENDPOINT }, response)
    const wait = (one: ServerResponse) => delays.wait({ id: 'e', accountId: 'a', timeout: 30 }, one, () => {})
    expect(waiting.every(wait)).toBe(true)
    expect(wait(response())).toBe(false)
    waiting[0]?.emit('close')
    expect(wait(response())).toBe(true)
    delays.end()
  })
})
