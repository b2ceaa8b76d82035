import { request as httpRequest } from 'node:http'
import { once } from 'node:events'
import { connect } from 'node:net'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sendRaw, startWebhooks, type Endpoint, type WebhooksTest } from './module.ts'

let portreeve: WebhooksTest
beforeAll(async () => void (portreeve = await startWebhooks()))
afterAll(() => portreeve.stop())

const MIB = 1024 * 1024
const names = (headers: [string, string][] = []) => headers.map(([name]) => name)
const under = ({ token }: Endpoint, rest = '') => `/webhooks/${token}${rest}`
const send = (endpoint: Endpoint, init: RequestInit = {}, rest = '') =>
  portreeve.portreeve.request(under(endpoint, rest), init)

/** A request with the given lines behind the request line, on a connection that closes after it. */
function raw(
  endpoint: Endpoint,
  method: string,
  rest: string,
  lines: string[],
  body = '',
): Promise<string> {
  const head = [
    `${method} ${under(endpoint, rest)} HTTP/1.1`,
    'Host: here',
    ...lines,
    'Connection: close',
  ]
  return portreeve.raw(`${head.join('\r\n')}\r\n\r\n${body}`)
}

describe('a captured request', () => {
  it('has every field as it was sent', async () => {
    const endpoint = await portreeve.makeEndpoint({ label: 'all fields' })
    const lines = [
      'X-Twice: one',
      'x-twice: two',
      'Content-Type: text/x; q="y"',
      'Content-Length: 5',
    ]
    const answer = await raw(endpoint, 'POST', '/a%2Fb//c?x=1&x=%zz', lines, 'h\u00e9llo')
    expect(answer).toMatch(/^HTTP\/1\.1 200 OK\r\n/)
    const [request] = await portreeve.captured(endpoint)
    expect(request).toMatchObject({
      method: 'POST',
      path: '/a%2Fb//c',
      query: 'x=1&x=%zz',
      headers: [
        ['Host', 'here'],
        ['X-Twice', 'one'],
        ['x-twice', 'two'],
        ['Content-Type', 'text/x; q="y"'],
        ['Content-Length', '5'],
        ['Connection', 'close'],
      ],
      trailers: null,
      ip: '127.0.0.1',
      body: Buffer.from('h\u00e9llo', 'latin1').toString('base64'),
      bodyEncoding: 'base64',
      bodySize: 5,
      truncated: false,
      contentType: 'text/x; q="y"',
      httpVersion: '1.1',
      preflight: false,
      aborted: false,
      rejected: null,
      responseStatus: 200,
    })
    expect(request?.id).toMatch(/^[\da-f]{8}-[\da-f]{4}-7/)
    expect(Math.abs(Date.now() - Date.parse(request?.receivedAt ?? ''))).toBeLessThan(10_000)
  })

  it.each([
    ['every byte there is', Buffer.from(Array.from({ length: 256 }, (_, byte) => byte))],
    ['gzip', gzipSync('a body that stays packed')],
    ['text with letters of all kinds', Buffer.from('naïve 漢字 🎣 \\u0000 "\' \r\n')],
    ['text with a NUL', Buffer.from('a\0b')],
    ['a byte order mark', Buffer.from('\ufeff{}')],
    ['broken UTF-8', Buffer.from([0x61, 0xc3, 0x28])],
  ])('has the body byte for byte: %s', async (_what, body) => {
    const endpoint = await portreeve.makeEndpoint()
    await send(endpoint, { method: 'PUT', body, headers: { 'content-encoding': 'gzip' } })
    const [request] = await portreeve.captured(endpoint)
    expect(Buffer.from(request?.body ?? '', request?.bodyEncoding).equals(body)).toBe(true)
    const path = `/api/webhook/endpoints/${endpoint.id}/requests/${request?.id}/body`
    const download = await portreeve.portreeve.request(path, { token: portreeve.alice.token })
    expect(Buffer.from(await download.arrayBuffer()).equals(body)).toBe(true)
    expect(download.headers.get('content-disposition')).toContain('attachment')
    expect(download.headers.get('content-type')).toBe('application/octet-stream')
  })

  it.each(['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND', 'QUERY'])(
    'may be a %s with a body',
    async (method) => {
      const endpoint = await portreeve.makeEndpoint({ responseBody: 'thanks' })
      const answer = await raw(
        endpoint,
        method,
        '',
        ['Content-Type: odd', 'Content-Length: 2'],
        'hi',
      )
      expect(answer).toMatch(/^HTTP\/1\.1 200 .*thanks$/s)
      expect(await portreeve.captured(endpoint)).toMatchObject([
        { method, body: 'hi', contentType: 'odd' },
      ])
    },
  )

  it('is answered to HEAD as to GET, without the body', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseBody: 'twelve bytes' })
    const answer = await raw(endpoint, 'HEAD', '', [])
    expect(answer).toContain('Content-Length: 12\r\n')
    expect(answer).toMatch(/\r\n\r\n$/)
    expect(await portreeve.captured(endpoint)).toMatchObject([
      { method: 'HEAD', responseStatus: 200 },
    ])
  })

  it('may come in chunks, with trailers', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const body = '3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nX-Sum: 1\r\n\r\n'
    await raw(endpoint, 'POST', '', ['Transfer-Encoding: chunked', 'Trailer: X-Sum'], body)
    expect(await portreeve.captured(endpoint)).toMatchObject([
      { body: 'abcde', bodySize: 5, trailers: [['X-Sum', '1']] },
    ])
  })

  it('may come over HTTP/1.0, through a proxy’s absolute form, or with an unusual expectation', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await portreeve.raw(`GET ${under(endpoint, '/old')} HTTP/1.0\r\n\r\n`)
    await portreeve.raw(
      `GET http://here:99${under(endpoint, '/abs')} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n`,
    )
    await raw(endpoint, 'POST', '/expects', ['Expect: tea', 'Content-Length: 0'])
    await raw(endpoint, 'GET', '/chat', ['Upgrade: websocket', 'Connection: Upgrade'])
    const requests = await portreeve.captured(endpoint, 4)
    expect(requests.map(({ path }) => path)).toEqual(['/chat', '/expects', '/abs', '/old'])
    expect(requests.at(-1)?.httpVersion).toBe('1.0')
  })

  it('gets 100 Continue when the sender waits for it', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const socket = connect(Number(new URL(portreeve.portreeve.wire).port), '127.0.0.1').setEncoding(
      'latin1',
    )
    socket.write(
      `POST ${under(endpoint)} HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n`,
    )
    expect(String(await once(socket, 'data'))).toMatch(/^HTTP\/1\.1 100 Continue/)
    socket.end('ok')
    await once(socket, 'close')
    expect(await portreeve.captured(endpoint)).toMatchObject([{ body: 'ok' }])
  })

  it('is in the list at once, before a delayed answer is sent', async () => {
    const endpoint = await portreeve.makeEndpoint({ timeout: 3, responseBody: 'late' })
    let isAnswered = false
    const answer = send(endpoint).finally(() => (isAnswered = true))
    expect(await portreeve.captured(endpoint)).toHaveLength(1)
    expect(isAnswered).toBe(false)
    expect(await (await answer).text()).toBe('late')
  })

  it('has lost our session cookie, and no other', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const ours = 'portreeve.session_token=secret.1; __Secure-portreeve.session_data=secret2'
    await raw(endpoint, 'GET', '', [
      `Cookie: a=1; ${ours}; b=2`,
      `Cookie: ${ours}`,
      'X-Other: portreeve.session_token=kept',
    ])
    const [request] = await portreeve.captured(endpoint)
    expect(request?.headers.filter(([name]) => name === 'Cookie')).toEqual([['Cookie', 'a=1; b=2']])
    expect(JSON.stringify(request)).not.toContain('secret')
    expect(names(request?.headers)).toContain('X-Other')
  })
})

describe('a body', () => {
  it('is stored up to a mebibyte and counted to the end', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const body = Buffer.alloc(3 * MIB, 'abc')
    expect((await send(endpoint, { method: 'POST', body })).status).toBe(200)
    const [request] = await portreeve.captured(endpoint)
    expect(request).toMatchObject({ bodySize: 3 * MIB, truncated: true, rejected: null })
    expect(request?.body).toBe(body.subarray(0, MIB).toString())
  })

  it('of exactly a mebibyte is whole', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await send(endpoint, { method: 'POST', body: Buffer.alloc(MIB, 'x') })
    expect(await portreeve.captured(endpoint)).toMatchObject([{ bodySize: MIB, truncated: false }])
  })

  it('that announces more than ten and waits for 100 Continue gets 413', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const answer = await raw(endpoint, 'POST', '', [
      'Expect: 100-continue',
      `Content-Length: ${10 * MIB + 1}`,
    ])
    expect(answer).toMatch(/^HTTP\/1\.1 413 /)
    expect(await portreeve.captured(endpoint)).toMatchObject([
      { responseStatus: 413, rejected: expect.stringContaining('10485760') },
    ])
  })

  it.each([
    ['becomes', {}],
    ['says it is', { 'Content-Length': String(11 * MIB) }],
  ])('that %s more than ten is answered 413, and its beginning kept', async (_how, headers) => {
    const endpoint = await portreeve.makeEndpoint()
    const sender = httpRequest(new URL(under(endpoint), portreeve.portreeve.wire), {
      method: 'POST',
      headers,
    })
    sender.on('error', () => {})
    const answered = once(sender, 'response')
    for (let i = 0; i < 11; i++) sender.write(Buffer.alloc(MIB, 'y'))
    const [response] = (await answered) as [{ statusCode: number }]
    sender.destroy()
    expect(response.statusCode).toBe(413)
    const [request] = await portreeve.captured(endpoint)
    expect(request).toMatchObject({ truncated: true, responseStatus: 413 })
    expect(request?.bodySize).toBeGreaterThan(10 * MIB)
  })

  it('that its sender aborts is stored as far as it arrived', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const socket = connect(Number(new URL(portreeve.portreeve.wire).port), '127.0.0.1')
    socket.write(`POST ${under(endpoint)} HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf`)
    await once(socket, 'connect')
    // Once another request is answered, the service has read these bytes.
    await portreeve.api('GET', `/${endpoint.id}`)
    socket.destroy()
    expect(await portreeve.captured(endpoint)).toMatchObject([
      {
        body: 'half',
        bodySize: 4,
        aborted: true,
        responseStatus: null,
        rejected: null,
        ip: '127.0.0.1',
      },
    ])
  })
})

describe('an answer', () => {
  it('is the configured one, in a sandbox', async () => {
    const settings = {
      responseStatus: 418,
      responseBody: '<b>né</b>',
      responseType: 'text/html; charset=utf-8',
    }
    const answer = await send(await portreeve.makeEndpoint(settings))
    expect([answer.status, await answer.text()]).toEqual([418, '<b>né</b>'])
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': expect.stringMatching(
        /^sandbox; default-src 'none';.*form-action 'none'/,
      ),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'cross-origin',
      'access-control-allow-origin': '*',
      'cache-control': 'no-store',
    })
    expect(answer.headers.has('set-cookie')).toBe(false)
    expect(answer.headers.has('access-control-allow-credentials')).toBe(false)
  })

  it.each([204, 304])('with status %i has no body', async (responseStatus) => {
    const answer = await raw(
      await portreeve.makeEndpoint({ responseStatus, responseBody: 'never' }),
      'GET',
      '',
      [],
    )
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${responseStatus} `))
    expect(answer).not.toContain('never')
  })

  it('allows other origins nothing where CORS is off', async () => {
    const answer = await send(await portreeve.makeEndpoint({ cors: false }))
    expect(answer.headers.has('access-control-allow-origin')).toBe(false)
    expect(answer.headers.get('cross-origin-resource-policy')).toBe('same-site')
  })

  it('to a preflight allows the request at once, whatever is configured, and is stored as a preflight', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseStatus: 500, timeout: 20 })
    const asks = [
      'Origin: https://app.test',
      'Access-Control-Request-Method: PATCH',
      'Access-Control-Request-Headers: x-a, content-type',
    ]
    const answer = await raw(endpoint, 'OPTIONS', '/sub', asks)
    expect(answer).toMatch(/^HTTP\/1\.1 204 /)
    expect(answer).toContain('Access-Control-Allow-Origin: *\r\n')
    expect(answer).toContain('Access-Control-Allow-Headers: x-a, content-type\r\n')
    expect(answer).toMatch(/Access-Control-Allow-Methods: .*PATCH/)
    expect(await portreeve.captured(endpoint)).toMatchObject([
      { preflight: true, path: '/sub', responseStatus: 204 },
    ])
  })

  it('to a preflight with invalid header names contains none of them', async () => {
    const asks = [
      'Origin: x',
      'Access-Control-Request-Method: GET',
      'Access-Control-Request-Headers: a b; c',
    ]
    expect(await raw(await portreeve.makeEndpoint(), 'OPTIONS', '', asks)).not.toContain(
      'Allow-Headers',
    )
  })

  it('is the configured one for a preflight where CORS is off, and for any other OPTIONS', async () => {
    const closed = await portreeve.makeEndpoint({ cors: false, responseStatus: 202 })
    const asks = ['Origin: https://app.test', 'Access-Control-Request-Method: PATCH']
    expect(await raw(closed, 'OPTIONS', '', asks)).toMatch(/^HTTP\/1\.1 202 /)
    expect(await portreeve.captured(closed)).toMatchObject([
      { preflight: true, responseStatus: 202 },
    ])
    expect(
      await raw(await portreeve.makeEndpoint({ responseStatus: 201 }), 'OPTIONS', '', []),
    ).toMatch(/^HTTP\/1\.1 201 /)
  })

  it('is empty for a page that would run it as a script, and the request is stored', async () => {
    const endpoint = await portreeve.makeEndpoint({
      responseBody: 'alert(1)',
      responseType: 'text/javascript',
    })
    const answer = await raw(endpoint, 'GET', '', ['Sec-Fetch-Dest: script'])
    expect(answer).toMatch(/^HTTP\/1\.1 403 /)
    expect(answer).not.toContain('alert')
    expect(await portreeve.captured(endpoint)).toMatchObject([{ responseStatus: 403 }])
  })

  it('gives a challenge back where the endpoint has a template', async () => {
    const settings = {
      template: true,
      responseBody: '{"challenge":"{{body.challenge}}"}',
      responseType: 'application/json',
    }
    const endpoint = await portreeve.makeEndpoint(settings)
    const answer = await send(endpoint, {
      method: 'POST',
      body: '{"type":"url_verification","challenge":"3eZ\\"b"}',
    })
    expect(await answer.json()).toEqual({ challenge: '3eZ"b' })
    const literal = await portreeve.makeEndpoint({ ...settings, template: false })
    expect(await (await send(literal, { method: 'POST', body: '{}' })).text()).toBe(
      settings.responseBody,
    )
  })

  it('for an unknown token is 404 and nothing is stored', async () => {
    for (const path of [
      '/webhooks/0000000000',
      '/webhooks/0000000000/x',
      '/webhooks/',
      '/webhooks/short',
      '/webhooks/..%2f',
    ]) {
      const answer = await portreeve.portreeve.request(path, { method: 'POST', body: 'x' })
      expect([path, answer.status]).toEqual([path, 404])
      expect(answer.headers.get('content-security-policy')).toContain('sandbox')
    }
  })
})

describe('a change', () => {
  it('holds for the next request, and a deleted endpoint is unknown', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseBody: 'one' })
    expect(await (await send(endpoint)).text()).toBe('one')
    await portreeve.api('PUT', `/${endpoint.id}`, { responseBody: 'two', responseStatus: 299 })
    const second = await send(endpoint)
    expect([second.status, await second.text()]).toEqual([299, 'two'])
    await portreeve.api('DELETE', `/${endpoint.id}`)
    expect((await send(endpoint)).status).toBe(404)
  })
})

describe('connections', () => {
  it('carry one request after the other, also before the first is answered', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const one = (path: string, last = '') =>
      `POST ${under(endpoint, path)} HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n${last}\r\nx`
    const answers = await portreeve.raw(one('/1') + one('/2') + one('/3', 'Connection: close\r\n'))
    expect(answers.match(/HTTP\/1\.1 200/g)).toHaveLength(3)
    expect((await portreeve.captured(endpoint, 3)).map(({ path }) => path)).toEqual([
      '/3',
      '/2',
      '/1',
    ])
  })

  it('without a Host header get 400, and the captured request has the reason', async () => {
    const endpoint = await portreeve.makeEndpoint()
    expect(
      await portreeve.raw(`POST ${under(endpoint)} HTTP/1.1\r\nContent-Length: 0\r\n\r\n`),
    ).toMatch(/^HTTP\/1\.1 400 /)
    expect(await portreeve.captured(endpoint)).toMatchObject([
      { rejected: expect.stringContaining('Host'), responseStatus: 400 },
    ])
    expect(await portreeve.raw('GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 400 /,
    )
  })

  it('that idle or trickle do not delay others', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const port = Number(new URL(portreeve.portreeve.wire).port)
    const idle = Array.from({ length: 200 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    for (const socket of idle.slice(0, 100))
      socket.write(`POST ${under(endpoint)} HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nx`)
    const begun = performance.now()
    for (let i = 0; i < 20; i++) expect((await send(endpoint, {}, '/quick')).status).toBe(200)
    // Headers may take ten seconds.
    expect(performance.now() - begun).toBeLessThan(9_000)
    for (const socket of idle) socket.destroy()
  })
})

describe('an origin of its own', () => {
  it('serves captures and nothing else', async () => {
    const own = await startWebhooks({ WEBHOOK_BASE_URL: 'http://hooks.test' })
    const endpoint = await own.makeEndpoint()
    expect(endpoint.url).toBe(`http://hooks.test/webhooks/${endpoint.token}`)
    const ask = (path: string, host: string) =>
      sendRaw(
        own.portreeve.wire,
        `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`,
      )
    expect(await ask(`/webhooks/${endpoint.token}`, 'hooks.test')).toMatch(/^HTTP\/1\.1 200 /)
    for (const host of ['hooks.test', 'HOOKS.test:80', 'hooks.test.']) {
      for (const path of ['/', '/healthz', '/api/v1/service', '/docs/']) {
        expect([host, path, (await ask(path, host)).slice(9, 12)]).toEqual([host, path, '404'])
      }
    }
    expect(await ask('/healthz', 'elsewhere.test')).toMatch(/^HTTP\/1\.1 200 /)
    expect(await ask(`/webhooks/${endpoint.token}`, 'elsewhere.test')).toMatch(/^HTTP\/1\.1 200 /)
    await own.stop()
  })
})
