import { Writable } from 'node:stream'
import { Type } from 'typebox'
import { afterAll, describe, expect, it } from 'vitest'
import { Fault } from '../../src/errors.ts'
import { createServer, type App } from '../../src/http/http-server.ts'
import { createLog } from '../../src/log.ts'

const lines: string[] = []
let ready = true
const app = await serverWithRoutes()
afterAll(() => app.close())

async function serverWithRoutes(): Promise<App> {
  const log = createLog(
    'info',
    new Writable({ write: (chunk, _encoding, done) => (lines.push(String(chunk)), done()) }),
  )
  const server = await createServer({
    log,
    version: '0.0.0',
    trustedProxies: [],
    isUnavailable: (error) => error instanceof Error && error.message === 'connection refused',
    isReady: async () => ready,
  })
  const body = Type.Object({
    source: Type.Object({ host: Type.String(), port: Type.Optional(Type.Integer()) }),
  })
  server.post('/api/v1/things', { schema: { body } }, async (request) => ({
    success: true,
    port: request.body.source.port,
    fields: [...Object.keys(request.body), ...Object.keys(request.body.source)],
  }))
  server.get(
    '/api/v1/things',
    { schema: { querystring: Type.Object({ limit: Type.Integer({ minimum: 1, default: 20 }) }) } },
    async (request) => request.query,
  )
  server.delete('/api/v1/things/:id', async () => ({ success: true }))
  server.get('/api/v1/fails/:how', async (request) => {
    const { how } = request.params as { how: string }
    if (how === 'fault') throw new Fault('rate_limited', 'Too fast.', { retryAfter: 2.2 })
    throw new Error(how === 'database' ? 'connection refused' : 'the secret detail')
  })
  return server
}

const post = (payload: string, type = 'application/json') =>
  app.inject({ method: 'POST', url: '/api/v1/things', payload, headers: { 'content-type': type } })

describe('a response of the server', () => {
  it('names every invalid field of a body, without converting it', async () => {
    const response = await post('{"source": {"port": "993"}}')
    expect(response.statusCode).toBe(400)
    expect(response.json()).toEqual({
      success: false,
      code: 'invalid_request',
      error: 'The request is not valid: source.host is required; source.port must be integer.',
      details: [
        { path: 'source.host', message: 'is required' },
        { path: 'source.port', message: 'must be integer' },
      ],
    })
  })

  it('reads a query as numbers', async () => {
    expect((await app.inject('/api/v1/things?limit=5')).json()).toEqual({ limit: 5 })
    expect((await app.inject('/api/v1/things?limit=0')).statusCode).toBe(400)
  })

  it.each([
    ['broken JSON', '{"source": ', 'application/json', 400, 'invalid_request'],
    [
      'a prototype',
      '{"source": {"__proto__": {"host": "x"}}}',
      'application/json',
      400,
      'invalid_request',
    ],
    ['no body', '', 'application/json', 400, 'invalid_request'],
    ['XML', '<source/>', 'text/xml', 415, 'unsupported_media_type'],
    [
      'a huge body',
      JSON.stringify({ pad: 'x'.repeat(1_100_000) }),
      'application/json',
      413,
      'too_large',
    ],
  ])('refuses %s', async (_what, payload, type, status, code) => {
    const response = await post(payload, type)
    expect(response.statusCode).toBe(status)
    expect(response.json()).toMatchObject({ success: false, code })
  })

  it('removes unknown fields from a body', async () => {
    const response = await post('{"source": {"host": "a", "accountId": 1}, "id": 2}')
    expect([response.statusCode, response.json().fields]).toEqual([200, ['source', 'host']])
  })

  it('accepts a DELETE with a JSON content type and no body', async () => {
    const headers = { 'content-type': 'application/json' }
    expect(
      (await app.inject({ method: 'DELETE', url: '/api/v1/things/1', headers })).statusCode,
    ).toBe(200)
  })

  it('is 404 for an unknown path and 405 with Allow for a known one', async () => {
    const unknown = await app.inject('/api/v1/nothing')
    expect([unknown.statusCode, unknown.json().code]).toEqual([404, 'not_found'])
    const wrong = await app.inject({ method: 'PUT', url: '/api/v1/things/1' })
    expect([wrong.statusCode, wrong.json().code, wrong.headers.allow]).toEqual([
      405,
      'method_not_allowed',
      'DELETE',
    ])
  })

  it('is an ordinary error for a malformed escape in the path', async () => {
    const response = await app.inject('/api/v1/%zz')
    expect([response.statusCode, response.json()]).toMatchObject([
      400,
      { success: false, code: 'invalid_request' },
    ])
    expect(response.headers['x-request-id']).toBeTruthy()
  })

  it('is 404 for an ID that is longer than any, with the headers of every response', async () => {
    const url = `/api/v1/things/${'a'.repeat(501)}`
    const response = await app.inject({ method: 'DELETE', url })
    expect([response.statusCode, response.json().code]).toEqual([404, 'not_found'])
    expect(response.headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    // Another method of the route, which the not-found handler looks for.
    expect((await app.inject({ method: 'PUT', url })).statusCode).toBeLessThan(500)
  })

  it('has Retry-After in whole seconds', async () => {
    const response = await app.inject('/api/v1/fails/fault')
    expect([response.statusCode, response.headers['retry-after']]).toEqual([429, '3'])
  })

  it('distinguishes an unavailable database from a defect, without details', async () => {
    const away = await app.inject('/api/v1/fails/database')
    expect([away.statusCode, away.json().code, away.headers['retry-after']]).toEqual([
      503,
      'unavailable',
      '5',
    ])
    const defect = await app.inject('/api/v1/fails/defect')
    expect([defect.statusCode, defect.json().code]).toEqual([500, 'internal'])
    expect(defect.body).not.toContain('secret')
    const id = defect.headers['x-request-id']
    expect(
      lines.some((line) => line.includes(String(id)) && line.includes('the secret detail')),
    ).toBe(true)
  })

  it('ignores request id and client address sent by the client', async () => {
    const headers = {
      'x-request-id': 'mine',
      'request-id': 'mine',
      'x-forwarded-for': '203.0.113.9',
    }
    const response = await app.inject({ url: '/healthz', headers })
    expect(response.headers['x-request-id']).not.toBe('mine')
    expect(lines.at(-1)).not.toContain('203.0.113.9')
  })

  it('logs the route, not the query', async () => {
    await app.inject('/api/v1/things?limit=5&domain=customer.example')
    expect(lines.at(-1)).toContain('"route":"/api/v1/things"')
    expect(lines.join()).not.toContain('customer.example')
  })

  it('reports liveness and readiness', async () => {
    expect((await app.inject('/healthz')).statusCode).toBe(200)
    expect((await app.inject('/readyz')).statusCode).toBe(200)
    ready = false
    const response = await app.inject('/readyz')
    expect([response.statusCode, response.headers['retry-after']]).toEqual([503, '5'])
  })

  it('includes an OpenAPI 3.1 document', async () => {
    expect((await app.inject('/openapi.json')).json().openapi).toBe('3.1.0')
  })
})
