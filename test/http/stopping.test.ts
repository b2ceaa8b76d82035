import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import * as consume from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { CLOSING_DRAIN_MS, STOP_GRACE_MS } from '../../src/http/limits/server-limits.ts'
import { closeWithin, listen } from '../../src/http/listen.ts'
import { createServer, type App } from '../../src/http/http-server.ts'
import { createLog } from '../../src/log.ts'

let app: App
/** The request for `/slow`: `begun` once it runs, and answered after `answer`. */
let slow: { begun: PromiseWithResolvers<void>; answer: PromiseWithResolvers<void> }
const sockets: Socket[] = []
afterEach(() => sockets.splice(0).forEach((socket) => socket.destroy()))

async function start(): Promise<number> {
  app = await createServer({
    log: createLog('silent'),
    version: '0',
    trustedProxies: [],
    isUnavailable: () => false,
    isReady: async () => true,
  })
  slow = { begun: Promise.withResolvers(), answer: Promise.withResolvers() }
  app.get('/slow', async () => {
    slow.begun.resolve()
    await slow.answer.promise
    return { slow: true }
  })
  await listen(app, '127.0.0.1', 0)
  return (app.server.address() as { port: number }).port
}

async function open(port: number, text = ''): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  sockets.push(socket)
  await once(socket, 'connect')
  if (text !== '') socket.write(text)
  return socket
}

/** Milliseconds until the server is closed, well within the grace period. */
async function stop(): Promise<number> {
  const begun = performance.now()
  await closeWithin(app, STOP_GRACE_MS)
  return performance.now() - begun
}

function keepBusy(milliseconds: number): void {
  const end = performance.now() + milliseconds
  while (performance.now() < end);
}

const LAST_ANSWER = /^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)*connection: close\r\n/i
const HEAD = 'GET /slow HTTP/1.1\r\nHost: x\r\n'

describe('a stopping server', () => {
  it('closes connections that have sent nothing at once', async () => {
    const port = await start()
    const silent = [await open(port), await open(port), await open(port)]
    // The last connection is known to the server when a later one was answered.
    await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()
    expect(await stop()).toBeLessThan(STOP_GRACE_MS / 2)
    for (const socket of silent) if (!socket.closed) await once(socket, 'close')
  })

  it('answers the requests of connections that were not accepted yet', async () => {
    const port = await start()
    const request = 'GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n'
    const waiting = await Promise.all(Array.from({ length: 100 }, async () => open(port, request)))
    const answers = waiting.map(async (socket) => consume.text(socket))
    const stopped = stop()
    for (const answer of await Promise.all(answers)) expect(answer).toMatch(/^HTTP\/1.1 200 OK/)
    expect(await stopped).toBeLessThan(STOP_GRACE_MS / 2)
  })

  it('answers requests on kept-alive connections for a short time, as their last ones', async () => {
    const port = await start()
    const kept = await open(port)
    let answers = ''
    kept.on('data', (bytes: Buffer) => (answers += bytes.toString()))
    const ask = () => kept.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    ask()
    await expect.poll(() => answers).toContain('keep-alive')
    const stopped = stop()
    do {
      answers = ''
      ask()
      await expect.poll(() => answers, { interval: 5 }).toMatch(/^HTTP\/1.1 200 OK[^]*\r\n\r\n/)
    } while (!LAST_ANSWER.test(answers))
    if (!kept.closed) await once(kept, 'close')
    expect(await stopped).toBeLessThan(STOP_GRACE_MS / 2)
  })

  it('answers a request that arrived while the process was busy until the end of that time', async () => {
    const port = await start()
    const [kept, other] = [await open(port), await open(port)]
    const ask = (socket: Socket) => socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n')
    let answer = ''
    kept.on('data', (bytes: Buffer) => (answer += bytes.toString()))
    ask(kept)
    await expect.poll(() => answer).toContain('keep-alive')
    other.on('data', (bytes: Buffer) => {
      if (LAST_ANSWER.test(bytes.toString())) {
        answer = ''
        ask(kept)
        keepBusy(CLOSING_DRAIN_MS)
      } else ask(other)
    })
    ask(other)
    const stopped = stop()
    await once(kept, 'close')
    expect(answer).toMatch(LAST_ANSWER)
    expect(await stopped).toBeLessThan(STOP_GRACE_MS / 2)
  })

  it('waits only briefly for incomplete headers', async () => {
    const port = await start()
    await open(port, HEAD)
    await (await fetch(`http://127.0.0.1:${port}/healthz`)).text()
    expect(await stop()).toBeLessThan(STOP_GRACE_MS / 2)
  })

  it('finishes a running request, beside connections that have sent nothing', async () => {
    const port = await start()
    await open(port)
    const busy = await open(port, `${HEAD}\r\n`)
    let answer = ''
    busy.on('data', (bytes: Buffer) => (answer += bytes.toString()))
    await slow.begun.promise
    const stopped = stop()
    await expect.poll(() => app.server.listening).toBe(false)
    slow.answer.resolve()
    expect(await stopped).toBeLessThan(STOP_GRACE_MS / 2)
    await expect.poll(() => answer).toContain('{"slow":true}')
    // A proxy would send its next request on a connection that is about to be closed.
    expect(answer).toMatch(LAST_ANSWER)
  })
})
