import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { createDelayedResponses } from '../../src/webhooks/capture/delayed-responses.ts'
import {
  MAX_DELAYED_RESPONSES,
  MAX_DELAYED_PER_ACCOUNT,
  MAX_DELAYED_PER_ENDPOINT,
} from '../../src/webhooks/limits.ts'

const response = () => new EventEmitter() as ServerResponse

describe('delayed answers', () => {
  it('leave slots for other accounts, however many endpoints one has', () => {
    const delays = createDelayedResponses()
    const wait = (responsibleId: string, id: string) =>
      delays.schedule({ id, responsibleId, timeout: 30 }, response(), () => {})
    let taken = 0
    for (let endpoint = 0; endpoint < 100; endpoint++) {
      for (let request = 0; request < MAX_DELAYED_PER_ENDPOINT; request++)
        taken += Number(wait('one', `e${endpoint}`))
    }
    expect(taken).toBe(MAX_DELAYED_PER_ACCOUNT)
    expect(MAX_DELAYED_PER_ACCOUNT).toBeLessThan(MAX_DELAYED_RESPONSES / 2)
    expect(wait('other', 'o')).toBe(true)
    delays.flush()
  })

  it('free their slots when their senders disconnect', () => {
    const delays = createDelayedResponses()
    const waiting = Array.from({ length: MAX_DELAYED_PER_ENDPOINT }, response)
    const wait = (one: ServerResponse) =>
      delays.schedule({ id: 'e', responsibleId: 'a', timeout: 30 }, one, () => {})
    expect(waiting.every(wait)).toBe(true)
    expect(wait(response())).toBe(false)
    waiting[0]?.emit('close')
    expect(wait(response())).toBe(true)
    delays.flush()
  })
})
