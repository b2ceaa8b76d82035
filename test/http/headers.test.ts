import { existsSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedService, startTestService, type TestService, type Person } from '../service.ts'

let portreeve: TestService
let alice: Person

beforeAll(async () => {
  portreeve = await sharedService()
  alice = await portreeve.addPerson('Alice')
})
afterAll(() => portreeve.stop())

const headersOf = async (path: string, init = {}) => (await portreeve.request(path, init)).headers

describe('every response', () => {
  it.each([
    '/api/v1/account',
    '/api/v1/nothing',
    '/healthz',
    '/openapi.json',
    '/docs/',
    '/nothing',
    '/api/v1/abuse/export',
  ])('%s names its type, is not guessed at, and says nothing of what we run on', async (path) => {
    // A proxy adds its own name.
    const headers = await headersOf(portreeve.wire + path, alice)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-type')).toBeTruthy()
    expect([headers.get('server'), headers.get('x-powered-by')]).toEqual([null, null])
  })
  it('of the API is neither cached nor framed', async () => {
    const headers = await headersOf('/api/v1/account', alice)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('content-security-policy')).toBe(
      "default-src 'none'; frame-ancestors 'none'",
    )
  })
  it('is not readable by pages of other origins', async () => {
    for (const path of ['/api/v1/account', '/api/v1/service', '/'])
      expect(
        (await headersOf(path, { headers: { origin: 'https://evil.example' } })).get(
          'access-control-allow-origin',
        ),
      ).toBeNull()
  })
})

describe.runIf(existsSync('web/dist/index.html'))('a page', () => {
  it('runs only our scripts, and cannot be framed', async () => {
    const headers = await headersOf('/', { headers: { accept: 'text/html' } })
    const policy = headers.get('content-security-policy') ?? ''
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "trusted-types 'none'",
    ])
      expect(policy).toContain(rule)
    expect(policy).not.toMatch(/unsafe|\*|data:/)
    expect(headers.get('referrer-policy')).toBe('same-origin')
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin')
  })
})

describe('a response configured by a user', () => {
  it('is sandboxed: no scripts, no forms, no own origin', async () => {
    const made = await portreeve.request('/api/webhook/endpoints', {
      method: 'POST',
      token: alice.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        responseType: 'text/html',
        responseBody: '<script>alert(1)</script>',
      }),
    })
    const { endpoint } = (await made.json()) as { endpoint: { token: string } }
    const headers = await headersOf(`/webhooks/${endpoint.token}`)
    expect(headers.get('content-security-policy')).toMatch(/^sandbox; default-src 'none'/)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('set-cookie')).toBeNull()
  })
})

describe('the session cookie', () => {
  it('is HttpOnly, and Secure over HTTPS', async () => {
    const secure = await startTestService({ BASE_URL: 'https://portreeve.test' })
    const bob = await secure.addPerson('Bob')
    const answer = await secure.request('/api/auth/sign-in/email', {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: 'https://portreeve.test' },
      body: JSON.stringify({ email: bob.email, password: bob.password }),
    })
    const [cookie = ''] = answer.headers.getSetCookie()
    for (const attribute of ['HttpOnly', 'SameSite=Lax', 'Secure'])
      expect(cookie).toContain(attribute)
    expect(answer.headers.get('strict-transport-security')).toMatch(/^max-age=\d{8}/)
    await secure.stop()
  })
})
