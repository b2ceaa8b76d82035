import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService } from '../service.ts'
import { itAlone } from '../scaled/alone.ts'

let portreeve: TestService
beforeAll(async () => {
  portreeve = await startTestService({ TRUSTED_PROXIES: 'localhost' })
})
afterAll(() => portreeve.stop())

const FORMS: Record<string, string>[] = [
  { 'x-forwarded-for': '203.0.113.7:5678' },
  { 'x-forwarded-for': '[2001:db8:77::1]:443' },
  { 'x-forwarded-for': 'unknown' },
  { 'x-forwarded-for': '_hidden' },
  { 'x-forwarded-for': '<junk>' },
  { 'x-forwarded-for': '' },
  { forwarded: 'for="[2001:db8:78::1]:443"' },
  { forwarded: 'for=unknown' },
  { forwarded: 'for="' },
]

const post = (path: string, body: object, headers: Record<string, string>) =>
  portreeve.request(path, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'content-type': 'application/json', ...headers },
  })

describe('behind a proxy', () => {
  it.each(FORMS)('reports and appeals work whatever names the client: %j', async (headers) => {
    const report = await post(
      '/api/v1/abuse/report',
      { ip: '45.83.64.20', service: 'sshd' },
      headers,
    )
    expect(await report.json()).toMatchObject({ success: true })
    const reports = [{ ip: '45.83.64.21', service: 'sshd' }]
    const bulk = await post('/api/v1/abuse/report/bulk', { reports }, headers)
    expect(await bulk.json()).toMatchObject({ success: true })
    const appeal = await post(
      '/api/v1/abuse/appeals',
      { ip: '45.83.64.22', reason: 'It is a mistake.' },
      headers,
    )
    expect(await appeal.json()).toMatchObject({ code: 'conflict' })
  })

  itAlone('nginx adds its own view of the client')(
    'sign-ins of clients with ports are counted apart',
    async () => {
      const signIn = (forwardedFor: string, name = 'x') =>
        post(
          '/api/auth/sign-in/email',
          { email: `${name}@people.test`, password: 'wrong password' },
          { 'x-forwarded-for': forwardedFor },
        )
      const statuses = []
      for (let port = 1; port <= 12; port += 1)
        statuses.push((await signIn(`203.0.113.50:${1_000 + port}`)).status)
      expect(statuses.slice(0, 10)).not.toContain(429)
      expect(statuses.at(-1)).toBe(429)
      // A different account, because guesses at one account are slowed down from everywhere.
      expect((await signIn('203.0.113.51:1001', 'y')).status).toBe(401)
    },
  )
})
