import { describe, expect, it } from 'vitest'
import { createCaptureMatcher, readTarget } from '../../src/webhooks/capture/capture-target.ts'
import { newEndpointToken } from '../../src/webhooks/endpoint-token.ts'

describe('a target', () => {
  it.each([
    ['/webhooks/Ab3dE5fG7h', { token: 'Ab3dE5fG7h', path: '', query: '' }],
    ['/webhooks/Ab3dE5fG7h/', { token: 'Ab3dE5fG7h', path: '/', query: '' }],
    ['/webhooks/Ab3dE5fG7h?', { token: 'Ab3dE5fG7h', path: '', query: '' }],
    [
      '/webhooks/Ab3dE5fG7h/a/../%2e?b?c=#d',
      { token: 'Ab3dE5fG7h', path: '/a/../%2e', query: 'b?c=#d' },
    ],
    ['HTTP://host:1/webhooks/Ab3dE5fG7h/x', { token: 'Ab3dE5fG7h', path: '/x', query: '' }],
    ['/webhooks/Ab3dE5fG7hX', null],
    ['/webhooks/Ab3dE5fG7', null],
    ['/webhooks/Ab3dE5fG7%68', null],
    ['/x/webhooks/Ab3dE5fG7h', null],
  ])('%s is %j', (url, expected) => {
    expect(readTarget(url)).toEqual(expected)
  })

  it('is the router’s where it is not below /webhooks/, unless captures have that origin alone', () => {
    const takes = createCaptureMatcher('https://base.test', 'https://hooks.test')
    const request = (url: string, host: string) => takes({ url, headers: { host } })
    expect(request('/webhooks/x', 'base.test')).toBe(true)
    expect(request('/webhooksx', 'base.test')).toBe(false)
    expect(request('/', 'hooks.test:443')).toBe(true)
    expect(request('/', 'hooks.test:8443')).toBe(false)
    const together = createCaptureMatcher('https://base.test', 'https://base.test')
    expect(together({ url: '/', headers: { host: 'base.test' } })).toBe(false)
  })
})

describe('a token', () => {
  it('has ten letters and digits, each as likely as the other', () => {
    const counts = new Map<string, number>()
    for (let i = 0; i < 6_200; i++) {
      const token = newEndpointToken()
      expect(token).toMatch(/^[A-Za-z0-9]{10}$/)
      for (const sign of token) counts.set(sign, (counts.get(sign) ?? 0) + 1)
    }
    expect(counts.size).toBe(62)
    // A thousand each on average, with a standard deviation of 31: six of them either way.
    for (const count of counts.values()) expect(Math.abs(count - 1_000)).toBeLessThan(190)
  })
})
