import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createLoadingCache } from '../src/loading-cache.ts'

type Row = { owner: string; validMs?: number }

const cacheOf = (max = 10, maxUnknown = 10) =>
  createLoadingCache<Row>({
    max,
    maxUnknown,
    lifetimeMs: 30_000,
    validMsOf: ({ validMs = Infinity }) => validMs,
  })

function stopClock(at: number) {
  const clock = vi.spyOn(performance, 'now').mockReturnValue(at)
  onTestFinished(() => clock.mockRestore())
  return clock
}

/** Loads that answer when they are told to, in the order in which they began. */
function slowLoads() {
  const answers: ((row: Row | null) => void)[] = []
  const load = vi.fn(() => new Promise<Row | null>((resolve) => answers.push(resolve)))
  return { load, answer: (row: Row | null) => answers.shift()?.(row) }
}

describe('a cache of what is loaded', () => {
  it('drops the entry that was used longest ago when it is full', async () => {
    const cache = cacheOf(3)
    for (const key of ['1', '2', '3']) await cache.load(key, async () => ({ owner: key }))
    cache.get('1')
    await cache.load('4', async () => ({ owner: '4' }))
    expect(['1', '2', '3', '4'].map((key) => cache.get(key)?.owner)).toEqual([
      '1',
      undefined,
      '3',
      '4',
    ])
  })

  it('counts keys without a value on their own, so that they displace no values', async () => {
    const cache = cacheOf(2, 2)
    await cache.load('real', async () => ({ owner: 'alice' }))
    for (const key of ['a', 'b', 'c']) await cache.load(key, async () => null)
    expect(cache.get('real')?.owner).toBe('alice')
    expect(['a', 'b', 'c'].map((key) => cache.get(key))).toEqual([undefined, null, null])
  })

  it('caches no unknown keys unless told to', async () => {
    const cache = createLoadingCache<Row>({ max: 3, lifetimeMs: 30 })
    expect(await cache.load('1', async () => null)).toBeNull()
    expect([cache.get('1'), cache.size]).toEqual([undefined, 0])
  })

  it('ends entries after their lifetime, and before it where they are no longer valid', async () => {
    const clock = stopClock(1_000)
    const cache = cacheOf()
    await cache.load('long', async () => ({ owner: 'alice' }))
    await cache.load('short', async () => ({ owner: 'alice', validMs: 10_000 }))
    await cache.load('none', async () => null)
    clock.mockReturnValue(11_000)
    expect([cache.get('long')?.owner, cache.get('short'), cache.get('none')]).toEqual([
      'alice',
      undefined,
      null,
    ])
    clock.mockReturnValue(31_000)
    expect([cache.get('long'), cache.get('none')]).toEqual([undefined, undefined])
  })

  it('shares a load between concurrent calls, but not after a change', async () => {
    const cache = cacheOf()
    const { load, answer } = slowLoads()
    const before = [cache.load('1', load), cache.load('1', load)]
    expect(load).toHaveBeenCalledTimes(1)
    cache.forgetAll()
    const after = cache.load('1', load)
    expect(load).toHaveBeenCalledTimes(2)
    // The first load saw the row, the second one began after it was deleted.
    answer({ owner: 'alice' })
    answer(null)
    expect(await after).toBeNull()
    answer(null)
    expect(await Promise.all(before)).toEqual([null, null])
    expect(cache.get('1')).toBeNull()
  })

  it.each([
    ['everything', (cache: ReturnType<typeof cacheOf>) => cache.forgetAll()],
    ['the key', (cache: ReturnType<typeof cacheOf>) => cache.forget('1')],
    ['values', (cache: ReturnType<typeof cacheOf>) => cache.forgetWhere(() => true)],
  ])('loads again what it loaded while %s changed', async (_, change) => {
    const cache = cacheOf()
    const { load, answer } = slowLoads()
    const loading = cache.load('1', load)
    change(cache)
    answer({ owner: 'revoked' })
    await vi.waitFor(() => expect(load).toHaveBeenCalledTimes(2))
    answer({ owner: 'bob' })
    expect(await loading).toEqual({ owner: 'bob' })
    expect(cache.get('1')?.owner).toBe('bob')
  })

  it('does not cache what changes during every load', async () => {
    const cache = cacheOf()
    const load = vi.fn(async () => {
      cache.forgetAll()
      return { owner: 'alice' }
    })
    expect(await cache.load('1', load)).toEqual({ owner: 'alice' })
    expect(load).toHaveBeenCalledTimes(3)
    expect(cache.get('1')).toBeUndefined()
  })

  it('forgets the values that match, and unknown keys, which may exist now', async () => {
    const cache = cacheOf()
    for (const owner of ['alice', 'bob']) await cache.load(owner, async () => ({ owner }))
    await cache.load('none', async () => null)
    cache.forgetWhere(({ owner }) => owner === 'alice')
    expect(['alice', 'bob', 'none'].map((key) => cache.get(key)?.owner)).toEqual([
      undefined,
      'bob',
      undefined,
    ])
    expect(cache.get('none')).toBeUndefined()
  })

  it('loads again after a load that failed', async () => {
    const cache = cacheOf()
    await expect(cache.load('1', () => Promise.reject(new Error('away')))).rejects.toThrow('away')
    expect(await cache.load('1', async () => ({ owner: 'alice' }))).toEqual({ owner: 'alice' })
  })
})
