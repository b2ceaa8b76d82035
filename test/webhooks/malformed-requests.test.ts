import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWebhooks, type WebhooksTest } from './module.ts'

let portreeve: WebhooksTest
beforeAll(async () => void (portreeve = await startWebhooks()))
afterAll(() => portreeve.stop())

describe('bytes that are no request', () => {
  it.each([
    [
      'an unknown verb',
      (target: string) => `FETCH ${target}/x?y=1 HTTP/1.1\r\nHost: a\r\n\r\n`,
      400,
      'FETCH',
    ],
    [
      'a verb in small letters',
      (target: string) => `post ${target}/x?y=1 HTTP/1.1\r\nHost: a\r\n\r\n`,
      400,
      'post',
    ],
    [
      'a control byte in a header',
      (target: string) => `GET ${target}/x?y=1 HTTP/1.1\r\nHost: a\r\nX: a\u0001b\r\n\r\n`,
      400,
      'GET',
    ],
    [
      'a length and chunks at once',
      (target: string) =>
        `POST ${target}/x?y=1 HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      'POST',
    ],
    [
      'too many headers',
      (target: string) =>
        `GET ${target}/x?y=1 HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
      431,
      'GET',
    ],
    [
      'a version nobody speaks',
      (target: string) => `GET ${target}/x?y=1 HTTP/7.1\r\nHost: a\r\n\r\n`,
      400,
      'GET',
    ],
    [
      'a space in a header name',
      (target: string) => `GET ${target}/x?y=1 HTTP/1.1\r\nHost : a\r\n\r\n`,
      400,
      'GET',
    ],
  ])('are kept with the reason: %s', async (_what, bytesFor, status, method) => {
    const endpoint = await portreeve.makeEndpoint()
    const bytes = bytesFor(`/webhooks/${endpoint.token}`)
    const answer = await portreeve.raw(bytes)
    expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`)
    expect(answer).toContain('"success":false')
    const [request] = await portreeve.captured(endpoint)
    expect(request).toMatchObject({
      method,
      path: '/x',
      query: 'y=1',
      responseStatus: status,
      ip: '127.0.0.1',
    })
    expect(request?.rejected).toMatch(status === 431 ? /16 KiB/ : /no HTTP request/)
    const kept = Buffer.from(request?.body ?? '', request?.bodyEncoding).toString('latin1')
    expect(kept).toBe(bytes.slice(0, 1024))
    const { json } = await portreeve.api('GET', `/${endpoint.id}`)
    expect(json.endpoint.requestCount).toBe(1)
  })

  it('lose our session cookie as well', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const cookie = 'Cookie: a=1; portreeve.session_token=secret; b=2'
    await portreeve.raw(`FETCH /webhooks/${endpoint.token} HTTP/1.1\r\n${cookie}\r\n\r\n`)
    const [request] = await portreeve.captured(endpoint)
    expect(request?.body).toContain('a=1; portreeve.session_token=; b=2')
  })

  it('in the middle of a body end the request, which is stored with the reason', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await portreeve.portreeve.request(`/webhooks/${endpoint.token}`)
    const answer = await portreeve.raw(
      `POST /webhooks/${endpoint.token} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nzz\r\n`,
    )
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect((await portreeve.captured(endpoint, 2)).slice(0, 1)).toMatchObject([
      {
        body: 'abc',
        aborted: true,
        rejected: expect.stringContaining('no HTTP request'),
        responseStatus: 400,
      },
    ])
  })

  it('that name no endpoint are rejected and not stored', async () => {
    for (const bytes of [
      '\u0016\u0003\u0001\u0002',
      'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
      'FETCH /webhooks/0000000000 HTTP/1.1\r\n\r\n',
    ]) {
      expect(await portreeve.raw(bytes)).toMatch(/^HTTP\/1\.1 400 /)
    }
  })
})

describe('a sender that is too slow', () => {
  it('gets 408 when its headers take longer than ten seconds', async () => {
    const socket = connect(Number(new URL(portreeve.portreeve.wire).port), '127.0.0.1').setEncoding(
      'latin1',
    )
    let answer = ''
    socket.on('error', () => {}).on('data', (text: string) => (answer += text))
    socket.write('POST /webhooks/0000000000 HTTP/1.1\r\n')
    const trickle = setInterval(() => socket.write('X: y\r\n'), 500)
    const begun = performance.now()
    await once(socket, 'close')
    clearInterval(trickle)
    expect(performance.now() - begun).toBeLessThan(18_000)
    expect(answer).toMatch(/^HTTP\/1\.1 408 /)
  }, 30_000)
})
