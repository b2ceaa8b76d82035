import { describe, expect, it, vi } from 'vitest'
import { createLog } from '../../src/log.ts'
import { createMirror } from '../../src/store/mirror.ts'
import type { Notifications } from '../../src/store/notifications.ts'

/** Notifications that a test sends. */
function fakeNotifications() {
  const handlers = new Set<(payload: unknown) => void>()
  const notifications: Notifications = {
    on(_channel, handler) {
      handlers.add(handler)
      return () => void handlers.delete(handler)
    },
    onReconnect: () => () => {},
    close: async () => {},
  }
  const deps = { notifications, log: createLog('silent') }
  return { deps, send: () => handlers.forEach((handler) => handler(null)), handlers }
}

describe('a mirror of the database', () => {
  it('never replaces newer data by an older answer', async () => {
    const { deps, send } = fakeNotifications()
    let stored = 'first'
    let shown = ''
    let reads = 0
    let slow: PromiseWithResolvers<void> | undefined
    await createMirror(deps, 'channel', async () => {
      const read = stored
      reads += 1
      await slow?.promise
      shown = read
    })
    expect(shown).toBe('first')
    slow = Promise.withResolvers()
    const late = slow
    send()
    await vi.waitFor(() => expect(reads).toBe(2))
    stored = 'second'
    slow = undefined
    send()
    late.resolve()
    await vi.waitFor(() => expect(shown).toBe('second'))
  })

  it('sees a change that is notified during the first load', async () => {
    const { deps, send } = fakeNotifications()
    const first = Promise.withResolvers<void>()
    const loads: string[] = []
    const created = createMirror(deps, 'channel', async () => {
      loads.push('load')
      if (loads.length === 1) await first.promise
    })
    await vi.waitFor(() => expect(loads).toHaveLength(1))
    send()
    send()
    first.resolve()
    await created
    await vi.waitFor(() => expect(loads).toHaveLength(2))
  })

  it('repeats a load that failed, and none after it was closed', async () => {
    vi.useFakeTimers()
    try {
      const { deps, send, handlers } = fakeNotifications()
      const load = vi.fn(async () => {})
      const { close } = await createMirror(deps, 'channel', load)
      load.mockRejectedValueOnce(new Error('away'))
      send()
      await vi.advanceTimersByTimeAsync(1_000)
      expect(load).toHaveBeenCalledTimes(3)
      load.mockRejectedValueOnce(new Error('away'))
      send()
      await vi.advanceTimersByTimeAsync(10)
      close()
      await vi.advanceTimersByTimeAsync(5_000)
      expect(load).toHaveBeenCalledTimes(4)
      expect(handlers.size).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it('reports that the first load failed, and listens no more', async () => {
    const { deps, handlers } = fakeNotifications()
    const failing = createMirror(deps, 'channel', () => Promise.reject(new Error('away')))
    await expect(failing).rejects.toThrow('away')
    expect(handlers.size).toBe(0)
  })
})
