import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTokenCache, type CachedToken } from '../../src/accounts/tokens/token-cache.ts'

function known(accountId: string, expiresInMs: number | null = null): CachedToken {
  const caller = {
    accountId,
    email: 'a@people.test',
    name: '',
    plan: 'free' as const,
    admin: false,
    workspaceId: accountId,
    responsibleId: accountId,
    role: 'owner' as const,
    tokenId: `token of ${accountId}`,
    tokenLabel: '',
    scopes: null,
    via: 'token' as const,
    sessionId: null,
    authenticatedAt: null,
    signedInWith: null,
    lacksSecondFactor: false,
  }
  return { caller, expiresInMs }
}

describe('the token cache', () => {
  it('drops the oldest entry when it is full', async () => {
    const cache = createTokenCache({ capacity: 3 })
    for (const key of ['1', '2', '3', '4']) await cache.fill(key, async () => known(key))
    expect(['1', '2', '3', '4'].map((key) => cache.get(key)?.caller.accountId)).toEqual([
      undefined,
      '2',
      '3',
      '4',
    ])
    expect(cache.size).toBe(3)
  })

  it('expires entries', async () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(1_000)
    onTestFinished(() => clock.mockRestore())
    const cache = createTokenCache({ lifetime: 30 })
    await cache.fill('1', async () => known('alice'))
    clock.mockReturnValue(1_029)
    expect(cache.get('1')).toBeDefined()
    clock.mockReturnValue(1_030)
    expect(cache.get('1')).toBeUndefined()
  })

  it('does not cache a value that changed while it was loaded', async () => {
    const cache = createTokenCache()
    const { promise, resolve } = Promise.withResolvers<CachedToken>()
    const asked = cache.fill('1', () => promise)
    cache.forgetAccess('alice')
    resolve(known('alice'))
    await asked
    expect(cache.get('1')).toBeUndefined()
  })

  it('drops the tokens of one account only', async () => {
    const cache = createTokenCache()
    for (const key of ['alice', 'bob']) await cache.fill(key, async () => known(key))
    cache.forgetAccess('alice')
    expect([cache.get('alice'), cache.get('bob')?.caller.accountId]).toEqual([undefined, 'bob'])
    cache.forgetAll()
    expect(cache.size).toBe(0)
  })

  it('does not cache unknown tokens', async () => {
    const cache = createTokenCache()
    expect(await cache.fill('1', async () => null)).toBeNull()
    expect(cache.size).toBe(0)
  })
})
