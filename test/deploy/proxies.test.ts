import { once } from 'node:events'
import { connect } from 'node:http2'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort } from '../free-port.ts'
import { startTestService, type Person, type TestService } from '../service.ts'
import { requestOverHttp2, startProxy, type ProxyName } from './proxies.ts'

const NAMES: ProxyName[] = ['nginx', 'Caddy', 'HAProxy']
/** Milliseconds in which a change reaches a stream. */
const LIVE_MS = 2_000
const LARGE = Buffer.alloc(9_000_000, 'x')

describe.each([
  { where: 'at the root', path: '' },
  { where: 'below a path', path: '/portreeve' },
])('a service $where', ({ path }) => {
  let port = 0
  let base = ''
  let portreeve: TestService
  let person: Person
  beforeAll(async () => {
    port = await freePort()
    base = `https://localhost:${port}${path}`
    portreeve = await startTestService({
      PORT: String(await freePort()),
      BASE_URL: base,
      TRUSTED_PROXIES: '127.0.0.1',
    })
    person = await portreeve.addPerson('Alice')
  })
  afterAll(() => portreeve.stop())

  describe.each(NAMES)('behind %s', (name) => {
    let stop: () => Promise<void>
    beforeAll(async () => {
      stop = await startProxy(name, { port, target: portreeve.wire, isBelowPath: path !== '' })
    })
    afterAll(() => stop())

    const authorization = () => ({ authorization: `Bearer ${person.token}` })
    const addEndpoint = async () => {
      const answer = await requestOverHttp2(`${base}/api/webhook/endpoints`, {
        method: 'POST',
        headers: { ...authorization(), 'content-type': 'application/json' },
        body: '{}',
      })
      expect(answer.status).toBe(201)
      return (JSON.parse(String(answer.body)) as { endpoint: { id: string; url: string } }).endpoint
    }

    it('signs in over HTTP/2, with cookies that only this service gets', async () => {
      const send = (origin: string) =>
        requestOverHttp2(`${base}/api/auth/sign-in/email`, {
          method: 'POST',
          headers: { origin, 'content-type': 'application/json' },
          body: JSON.stringify({ email: person.email, password: person.password }),
        })
      expect((await send('https://stranger.example')).status).toBe(403)
      const { status, headers } = await send(new URL(base).origin)
      expect(status).toBe(200)
      const cookie = [headers['set-cookie']].flat().find((line) => line?.includes('session_token'))
      expect(cookie).toMatch(path === '' ? /^__Host-portreeve\./ : /^__Secure-portreeve\./)
      expect(cookie).toContain(`Path=${path || '/'};`)
      expect(cookie).toContain('Secure')
    })

    it('serves the dashboard and its files, and nothing elsewhere', async () => {
      const page = await requestOverHttp2(`${base}/home`, { headers: { accept: 'text/html' } })
      const [, script = ''] =
        /<script type="module"[^>]* src="([^"]+)"/.exec(String(page.body)) ?? []
      expect(script.startsWith(`${path}/assets/`)).toBe(true)
      expect((await requestOverHttp2(new URL(script, base).href)).status).toBe(200)
      const elsewhere = await requestOverHttp2(new URL('/elsewhere', base).href)
      expect(elsewhere.headers['x-request-id'] === undefined).toBe(path !== '')
    })

    it('captures a request as it was sent, from the address of its sender', async () => {
      const { id, url } = await addEndpoint()
      const target = '/a%2Fb//x?q=%20+&z'
      const sent = { method: 'POST', headers: { 'x-forwarded-for': '203.0.113.9' }, body: LARGE }
      expect((await requestOverHttp2(`${url}${target}`, sent)).status).toBe(200)
      const list = `${base}/api/webhook/endpoints/${id}/requests`
      const answer = await requestOverHttp2(list, { headers: authorization() })
      const { requests } = JSON.parse(String(answer.body)) as {
        requests: { path: string; ip: string; bodySize: number }[]
      }
      expect(requests).toMatchObject([
        { path: '/a%2Fb//x', ip: '127.0.0.1', bodySize: LARGE.length },
      ])
    })

    it('streams changes as they happen', async () => {
      const session = connect(new URL(base).origin, { rejectUnauthorized: false })
      await once(session, 'connect')
      const headers = { ':path': `${path}/api/v1/events`, 'accept-encoding': 'gzip' }
      const stream = session.request({ ...headers, ...authorization() })
      await once(stream, 'response')
      const { id } = await addEndpoint()
      const begun = performance.now()
      let text = ''
      for await (const piece of stream) {
        text += String(piece)
        if (text.includes(id)) break
      }
      expect(performance.now() - begun).toBeLessThan(LIVE_MS)
      session.destroy()
    })
  })
})
