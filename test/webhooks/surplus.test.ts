import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWebhooks, type Captured, type Endpoint, type WebhooksTest } from './module.ts'

let portreeve: WebhooksTest
beforeAll(async () => void (portreeve = await startWebhooks()))
afterAll(() => portreeve.stop())

/** The statuses on a connection, in their order. */
const statusesIn = (answer: string) =>
  [...answer.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status))

const headOf = (endpoint: Endpoint, ...more: string[]) =>
  [`POST /webhooks/${endpoint.token}/x HTTP/1.1`, 'Host: a', ...more, '', ''].join('\r\n')

/** Returns the only captured request, when it has a surplus. */
async function withSurplus(endpoint: Endpoint): Promise<Captured> {
  await expect.poll(async () => (await portreeve.captured(endpoint))[0]?.surplus).toBeTruthy()
  const requests = await portreeve.captured(endpoint)
  expect(requests).toHaveLength(1)
  return requests[0] as Captured
}

/** A connection, and the bytes read from it so far. */
function open(): { socket: Socket; answer: () => string } {
  const socket = connect(Number(new URL(portreeve.portreeve.wire).port), '127.0.0.1')
    .setEncoding('latin1')
    .setNoDelay()
  let answer = ''
  socket.on('error', () => {}).on('data', (text: string) => (answer += text))
  return { socket, answer: () => answer }
}

describe('bytes after the end of a request', () => {
  it('in the same packet are shown with the request, which is answered first', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseBody: 'thanks' })
    const answer = await portreeve.raw(`${headOf(endpoint, 'Content-Length: 3')}abcSURPLUS`)
    expect(statusesIn(answer)).toEqual([200, 400])
    expect(answer).toContain('thanks')
    expect(await withSurplus(endpoint)).toMatchObject({
      body: 'abc',
      bodySize: 3,
      aborted: false,
      rejected: null,
      responseStatus: 200,
      surplus: { size: 7, start: 'SURPLUS', startEncoding: 'utf8', responseStatus: 400 },
    })
  })

  it.each([
    ['in a packet of their own while the answer waits', 0.5],
    ['in a packet of their own after the answer', 0],
  ])('%s are shown as well', async (_when, timeout) => {
    const endpoint = await portreeve.makeEndpoint({ timeout })
    const { socket, answer } = open()
    socket.write(`${headOf(endpoint, 'Content-Length: 3')}abc`)
    await (timeout > 0 ? portreeve.captured(endpoint) : once(socket, 'data'))
    socket.write(Buffer.from('\u00ff\u0000junk', 'latin1'))
    await once(socket, 'close')
    expect(statusesIn(answer())).toEqual([200, 400])
    expect(await withSurplus(endpoint)).toMatchObject({
      body: 'abc',
      responseStatus: 200,
      surplus: {
        size: 6,
        start: Buffer.from('\u00ff\u0000junk', 'latin1').toString('base64'),
        startEncoding: 'base64',
      },
    })
  })

  it('that look like a method are counted from their first byte', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await portreeve.raw(`${headOf(endpoint, 'Content-Length: 1')}{"GET /half":1}`)
    await portreeve.raw(`${headOf(endpoint, 'Content-Length: 4')}POSTPOSTAL CODE`)
    const requests = await portreeve.captured(endpoint, 2)
    expect(requests.map(({ body, surplus }) => [body, surplus?.start])).toEqual([
      ['POST', 'POSTAL CODE'],
      ['{', '"GET /half":1}'],
    ])
  })

  it('with Connection: close end with the answer, and nothing else is answered', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const answer = await portreeve.raw(
      `${headOf(endpoint, 'Connection: close', 'Content-Length: 3')}abcSURPLUS`,
    )
    expect(statusesIn(answer)).toEqual([200])
    expect(await withSurplus(endpoint)).toMatchObject({
      body: 'abc',
      responseStatus: 200,
      surplus: { size: 7, start: 'SURPLUS', responseStatus: null },
    })
  })

  it('that are a body without a Content-Length are shown', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const answer = await portreeve.raw(
      `${headOf(endpoint, 'Content-Type: application/json')}{"order": 1}`,
    )
    expect(statusesIn(answer)).toEqual([200, 400])
    expect(await withSurplus(endpoint)).toMatchObject({
      body: '',
      surplus: { size: 12, start: '{"order": 1}' },
    })
  })

  it('after the last chunk are shown', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const answer = await portreeve.raw(
      `${headOf(endpoint, 'Transfer-Encoding: chunked')}3\r\nabc\r\n0\r\n\r\nSURPLUS`,
    )
    expect(statusesIn(answer)).toEqual([200, 400])
    expect(await withSurplus(endpoint)).toMatchObject({
      body: 'abc',
      surplus: { size: 7, start: 'SURPLUS' },
    })
  })

  it('of a body in several packets are distinguished from it', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const { socket, answer } = open()
    const body = 'abc'.repeat(20_000)
    socket.write(`${headOf(endpoint, `Content-Length: ${body.length}`)}${body.slice(0, 50_000)}`)
    await expect.poll(() => socket.bytesWritten).toBeGreaterThan(50_000)
    // Once another request is answered, the service has read these bytes.
    await portreeve.api('GET', `/${endpoint.id}`)
    socket.write(`${body.slice(50_000)}SURPLUS`)
    await once(socket, 'close')
    expect(statusesIn(answer())).toEqual([200, 400])
    expect(await withSurplus(endpoint)).toMatchObject({
      bodySize: 60_000,
      surplus: { size: 7, start: 'SURPLUS' },
    })
  })

  it('are stored up to 1,024, and counted', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await portreeve.raw(`${headOf(endpoint, 'Content-Length: 0')}${'~'.repeat(5_000)}`)
    const { surplus } = await withSurplus(endpoint)
    expect([surplus?.size, surplus?.start.length]).toEqual([5_000, 1_024])
  })

  it('lose our session cookie', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await portreeve.raw(
      `${headOf(endpoint, 'Content-Length: 0')}~ Cookie: portreeve.session_token=secret; b=2`,
    )
    expect((await withSurplus(endpoint)).surplus?.start).toBe(
      '~ Cookie: portreeve.session_token=; b=2',
    )
  })
})

describe('bytes after a request that are no surplus', () => {
  it('is the next request of the connection, in the same packet or later', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const one = `${headOf(endpoint, 'Content-Length: 3')}abc`
    const last = `${headOf(endpoint, 'Connection: close', 'Content-Length: 3')}xyz`
    expect(statusesIn(await portreeve.raw(one + last))).toEqual([200, 200])
    const requests = await portreeve.captured(endpoint, 2)
    expect(requests.map(({ body, surplus }) => [body, surplus])).toEqual([
      ['xyz', null],
      ['abc', null],
    ])
  })

  it('is a line break, which old clients send', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const first = `${headOf(endpoint, 'Content-Length: 3')}abc\r\n`
    await portreeve.raw(`${first}${headOf(endpoint, 'Connection: close', 'Content-Length: 0')}`)
    expect((await portreeve.captured(endpoint, 2)).map(({ surplus }) => surplus)).toEqual([
      null,
      null,
    ])
  })

  it('is a malformed request of its own, where it names an endpoint', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseBody: 'thanks' })
    const bad = `FETCH /webhooks/${endpoint.token}/bad HTTP/1.1\r\nHost: a\r\n\r\n`
    const answer = await portreeve.raw(`${headOf(endpoint, 'Content-Length: 3')}abc${bad}`)
    expect(statusesIn(answer)).toEqual([200, 400])
    const requests = await portreeve.captured(endpoint, 2)
    const found = requests.map(({ path, body, responseStatus, surplus }) => ({
      path,
      body,
      responseStatus,
      surplus,
    }))
    expect(found).toHaveLength(2)
    expect(found).toContainEqual({ path: '/x', body: 'abc', responseStatus: 200, surplus: null })
    expect(found).toContainEqual({ path: '/bad', body: bad, responseStatus: 400, surplus: null })
  })
})

describe('any other request of the service', () => {
  it('is answered before the bytes after it are rejected', async () => {
    const body = JSON.stringify({ label: 'once' })
    const head = [
      'POST /api/webhook/endpoints HTTP/1.1',
      'Host: a',
      `Authorization: Bearer ${portreeve.alice.token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
    ]
    expect(statusesIn(await portreeve.raw(`${head.join('\r\n')}\r\n\r\n${body}SURPLUS`))).toEqual([
      201, 400,
    ])
  })
})

describe('a sender that closes its side after the request', () => {
  it.each([
    ['with a length', 'HTTP/1.1', 'Content-Length: 3'],
    ['of HTTP/1.0', 'HTTP/1.0', 'Content-Length: 3'],
    ['of HTTP/1.0 without a length', 'HTTP/1.0', 'X-Note: no length'],
  ])('%s is answered', async (_how, version, header) => {
    // The answer comes after the sender’s side is closed.
    const endpoint = await portreeve.makeEndpoint({ timeout: 0.2, responseBody: 'thanks' })
    const { socket, answer } = open()
    socket.end(`${headOf(endpoint, header).replace('HTTP/1.1', version)}abc`)
    await once(socket, 'close')
    expect(statusesIn(answer())).toEqual([200])
    expect(answer()).toContain('thanks')
    expect(await portreeve.captured(endpoint)).toMatchObject([{ responseStatus: 200 }])
  })
})
