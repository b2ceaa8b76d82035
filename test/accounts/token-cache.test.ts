import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createTokenCache, type CachedToken } from '../../src/accounts/token-cache.ts'

function known(accountId: string): CachedToken {
  const caller = {
    accountId,
    email: 'a@people.test',
    name: '',
    plan: 'free' as const,
    admin: false,
    via: 'token' as const,
    sessionId: null,
    authenticatedAt: null,
  }
  return { tokenId: `token of ${accountId}`, caller }
}

describe('the memory for tokens', () => {
  it('has an end: the oldest goes first', async () => {
    const cache = createTokenCache({ capacity: 3 })
    for (const key of ['1', '2', '3', '4']) await cache.fill(key, async () => known(key))
    expect(['1', '2', '3', '4'].map((key) => cache.get(key)?.caller.accountId)).toEqual([undefined, '2', '3', '4'])
    expect(cache.size).toBe(3)
  })

  it('lasts for a moment', async () => {
    const cache = createTokenCache({ lifetime: 30 })
    await cache.fill('1', async () => known('alice'))
    expect(cache.get('1')).toBeDefined()
    await sleep(40)
    expect(cache.get('1')).toBeUndefined()
  })

  it('does not keep an answer that was overtaken by a change', async () => {
    const cache = createTokenCache()
    const { promise, resolve } = Promise.withResolvers<CachedToken>()
    const asked = cache.fill('1', () => promise)
    cache.forgetAccount('alice')
    resolve(known('alice'))
    await asked
    expect(cache.get('1')).toBeUndefined()
  })

  it('forgets an account’s tokens and no other’s', async () => {
    const cache = createTokenCache()
    for (const key of ['alice', 'bob']) await cache.fill(key, async () => known(key))
    cache.forgetAccount('alice')
    expect([cache.get('alice'), cache.get('bob')?.caller.accountId]).toEqual([undefined, 'bob'])
    cache.forgetAll()
    expect(cache.size).toBe(0)
  })

  it('does not remember tokens that do not exist', async () => {
    const cache = createTokenCache()
    expect(await cache.fill('1', async () => null)).toBeNull()
    expect(cache.size).toBe(0)
  })
})
