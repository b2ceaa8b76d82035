import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import {
  createServer as createHttpServer,
  request as requestHttp,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { startWebhooks, type WebhooksTest } from '../webhooks/module.ts'
import { PROGRAM, runInProcess, SURROUNDINGS } from './command.ts'

let portreeve: WebhooksTest
let local: Server
let received: Buffer[] = []
const address = () => `http://127.0.0.1:${(local.address() as AddressInfo).port}`

beforeAll(async () => {
  portreeve = await startWebhooks()
  // A server that records the received bytes and responds to each request.
  local = createServer((socket) => {
    socket
      .on('error', () => {})
      .on('data', (piece) => {
        received.push(piece)
        if (Buffer.concat(received).includes('END'))
          socket.end('HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n')
      })
  }).listen(0, '127.0.0.1')
  await once(local, 'listening')
})
afterAll(async () => {
  local.close()
  await portreeve.stop()
})

function listen(
  words: string[],
  env: Record<string, string> = {},
  server = portreeve.portreeve.url,
) {
  const all = {
    ...SURROUNDINGS,
    NO_COLOR: '1',
    PORTREEVE_TOKEN: portreeve.alice.token,
    ...env,
  }
  const child = spawn(process.execPath, [PROGRAM, 'listen', ...words, '--server', server], {
    cwd: tmpdir(),
    env: all,
  })
  let text = ''
  child.stdout.on('data', (piece) => (text += String(piece)))
  child.stderr.on('data', (piece) => (text += String(piece)))
  return { child, out: () => text }
}

/**
 * A proxy in front of the service. When told to fail, it interrupts its streams and responds with
 * 502.
 */
async function startProxy(target: string) {
  let isRefusing = false
  let streams = 0
  const passing = new Set<ServerResponse>()
  function pass({ method, headers, url = '' }: IncomingMessage, response: ServerResponse): void {
    passing.add(response)
    const sent = requestHttp(new URL(url, target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers)
      answer.on('error', () => {}).pipe(response)
      // Until then, the service has not noted from which request on it follows the endpoint.
      if (url.endsWith('/events'))
        answer.on('data', (piece) => (streams += String(piece).includes('event: ready') ? 1 : 0))
    })
    response.on('close', () => sent.destroy())
    sent.on('error', () => {}).end()
  }
  const server = createHttpServer((request, response) => {
    if (isRefusing) response.writeHead(502).end('<html>Bad Gateway')
    else pass(request, response)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    streams: () => streams,
    refuse(now: boolean) {
      isRefusing = now
      if (now) for (const response of passing) response.destroy()
    },
    close: () => server.close(),
  }
}

async function stop(child: ChildProcess): Promise<number | null> {
  const ended = once(child, 'exit')
  child.kill('SIGINT')
  const [code] = (await ended) as [number | null]
  return code
}

describe('portreeve listen', () => {
  it('forwards captured requests to a server on this machine: the same bytes, headers and target', async () => {
    received = []
    const endpoint = await portreeve.makeEndpoint()
    const { child, out } = listen([endpoint.token, '--to', `${address()}/base/`])
    await vi.waitFor(() => expect(out()).toContain('Forwarding'), 10_000)
    const body = Buffer.concat([Buffer.from([0, 255, 13, 10]), Buffer.from('END')])
    // The stream may open shortly after the command says so: sends until one arrives.
    await vi.waitFor(async () => {
      const lines = `POST /webhooks/${endpoint.token}//a%2fb/../c?q=%zz HTTP/1.1\r\nhOST: hooks\r\nX-Twice: 1\r\nx-twice: \u00e9\r\n`
      await portreeve.raw(
        Buffer.concat([
          Buffer.from(`${lines}Content-Length: 7\r\nConnection: close\r\n\r\n`, 'latin1'),
          body,
        ]),
      )
      expect(out()).toContain('→ 202')
    }, 15_000)
    const bytes = Buffer.concat(received)
    const [head = ''] = bytes.toString('latin1').split('\r\n\r\n')
    expect(head.split('\r\n')).toEqual([
      'POST /base//a%2fb/../c?q=%zz HTTP/1.1',
      `hOST: ${new URL(address()).host}`,
      'X-Twice: 1',
      'x-twice: \u00e9',
      'Content-Length: 7',
      'Connection: close',
    ])
    expect(bytes.subarray(head.length + 4, head.length + 4 + body.length).equals(body)).toBe(true)
    expect(out()).not.toContain(portreeve.alice.token)
    expect(await stop(child)).toBe(0)
  }, 40_000)

  it('lets that server answer the sender, and says 502 where there is none', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseBody: 'configured' })
    const server = createHttpServer((request, response) => {
      if (request.url === '/hang-up') request.socket.destroy()
      else response.writeHead(418, { 'x-local': 'yes' }).end(Buffer.from([0, 255]))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const to = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const { child, out } = listen([endpoint.token, '--to', to, '--answer', '--hold', '20'])
    await vi.waitFor(() => expect(out()).toContain('Forwarding'), 10_000)
    const ask = (path: string) =>
      portreeve.portreeve.request(`/webhooks/${endpoint.token}${path}`, { method: 'POST' })
    // The stream may open shortly after the command says so: until then, senders get a fallback.
    const answered = await vi.waitFor(async () => {
      const response = await ask('/x')
      expect(response.status).toBe(418)
      return response
    }, 60_000)
    expect(answered.headers.get('x-local')).toBe('yes')
    expect(Buffer.from(await answered.arrayBuffer())).toEqual(Buffer.from([0, 255]))
    const failed = await ask('/hang-up')
    expect([failed.status, await failed.json()]).toEqual([
      502,
      { error: expect.stringContaining('did not answer') },
    ])
    expect(await stop(child)).toBe(0)
    server.close()
    // It left: the configured response follows at once.
    expect(await (await ask('/x')).text()).toBe('configured')
  }, 90_000)

  it('requests the root when neither URL nor request has a path, and marks an empty body', async () => {
    received = []
    const endpoint = await portreeve.makeEndpoint()
    await portreeve.raw(
      `POST /webhooks/${endpoint.token}?END HTTP/1.1\r\nHost: hooks\r\nConnection: close\r\n\r\n`,
    )
    const { child, out } = listen([endpoint.token, '--to', address(), '--all'])
    await vi.waitFor(() => expect(out()).toContain('→ 202'), 15_000)
    expect(Buffer.concat(received).toString()).toBe(
      `POST /?END HTTP/1.1\r\nHost: ${new URL(address()).host}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    )
    expect(await stop(child)).toBe(0)
  }, 40_000)

  it('continues after the service was unavailable', async () => {
    received = []
    const endpoint = await portreeve.makeEndpoint()
    const between = await startProxy(portreeve.portreeve.url)
    const { child, out } = listen([endpoint.token, '--to', address(), '--json'], {}, between.url)
    await vi.waitFor(() => expect(between.streams()).toBe(1), 15_000)
    await portreeve.portreeve.request(`/webhooks/${endpoint.token}/1END`)
    await vi.waitFor(() => expect(out()).toContain('/1END'), 15_000)
    between.refuse(true)
    for (const path of ['2END', '3END'])
      await portreeve.portreeve.request(`/webhooks/${endpoint.token}/${path}`)
    await vi.waitFor(() => expect(out()).toContain('502'), 15_000)
    between.refuse(false)
    await vi.waitFor(() => expect(out()).toContain('/3END'), 15_000)
    const paths = [...out().matchAll(/"path":"\/(\d)END"/g)].map(([, number]) => number)
    expect(paths).toEqual(['1', '2', '3'])
    expect(await stop(child)).toBe(0)
    between.close()
  }, 60_000)

  it('starts with stored requests if requested, and lists those it could not forward', async () => {
    received = []
    const endpoint = await portreeve.makeEndpoint()
    await portreeve.portreeve.request(`/webhooks/${endpoint.token}/1`, {
      method: 'POST',
      body: 'END',
    })
    await portreeve.raw(`FETCH /webhooks/${endpoint.token}/2 HTTP/1.1\r\n\r\n`)
    const { child, out } = listen([endpoint.token, '--to', address(), '--all', '--json'])
    await vi.waitFor(() => expect(out().trim().split('\n')).toHaveLength(2), 15_000)
    const lines = out()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as object)
    expect(lines).toMatchObject([
      { path: '/1', status: 202 },
      { path: '/2', error: expect.stringContaining('refused') },
    ])
    await portreeve.api('DELETE', `/${endpoint.id}`)
    const [code] = (await once(child, 'exit')) as [number]
    expect(code).toBe(1)
  }, 40_000)

  it('reports errors in one sentence, and with the exit code', async () => {
    const env = { PORTREEVE_API_TOKEN: portreeve.alice.token }
    const to = ['--to', address(), '--server', portreeve.portreeve.url]
    expect(await runInProcess(['listen', 'short', ...to], env)).toMatchObject({
      code: 2,
      err: expect.stringContaining('token'),
    })
    expect(await runInProcess(['listen', '0000000000', ...to], env)).toMatchObject({
      code: 1,
      err: expect.stringContaining('no webhook endpoint'),
    })
    expect(await runInProcess(['listen', '0000000000'], env)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--to'),
    })
    expect(await runInProcess(['listen', '0000000000', ...to], {})).toMatchObject({
      code: 2,
      err: expect.stringContaining('PORTREEVE_TOKEN'),
    })
    const named = ['listen', '0000000000', '--to', address().replace('//', '//me:hidden@')]
    const refused = await runInProcess(named, env)
    expect(refused).toMatchObject({
      code: 2,
      err: expect.stringContaining('must not have a name or password'),
    })
    expect(refused.out + refused.err).not.toContain('hidden')
    const wrong = { PORTREEVE_TOKEN: 'prv_wrong' }
    expect(await runInProcess(['listen', '0000000000', ...to], wrong)).toMatchObject({
      code: 1,
      err: expect.stringContaining('API token'),
    })
  }, 40_000)
})
