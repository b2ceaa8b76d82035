import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Resolver } from '../../src/net/dns.ts'
import { KeptConnections } from '../../src/net/http/kept-connections.ts'
import { sendAttempt } from '../../src/webhooks/forwarding/send-attempt.ts'
import { until } from '../alerts/module.ts'
import { startReceiver, status, type Receiver } from '../servers/receiver.ts'

const guard = { resolver: {} as Resolver, allowPrivate: true }
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function receiverOf(...given: Parameters<typeof startReceiver>): Promise<Receiver> {
  const receiver = await startReceiver(...given)
  closing.push(() => receiver.close())
  return receiver
}

function keep(): KeptConnections {
  const kept = new KeptConnections(5)
  closing.push(() => kept.destroy())
  return kept
}

function send(origin: string, kept?: KeptConnections, { timeout = 5_000 } = {}) {
  const url = new URL(origin)
  const sent = {
    url,
    method: 'POST',
    path: '/in',
    headers: [
      ['Host', url.host],
      ['Content-Length', '1'],
      ['X-Portreeve-Repeat', 'no'],
    ] as [string, string][],
    body: Buffer.from('x'),
  }
  return sendAttempt(sent, guard, AbortSignal.timeout(timeout), kept)
}

/** A server that speaks no proper HTTP: what it does with each connection. */
async function rawServer(onRequest: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}).once('data', () => onRequest(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

describe('an attempt', () => {
  it('measures its phases, and uses a connection again', async () => {
    const opened: Socket[] = []
    const receiver = await receiverOf(status(200, 'ok'), (step, socket) => {
      if (step === 'connected') opened.push(socket)
    })
    const kept = keep()
    const first = await send(receiver.origin, kept)
    expect(first).toMatchObject({ status: 200, kind: null, address: '127.0.0.1', tlsMs: null })
    for (const phase of [first.dnsMs, first.connectMs, first.firstByteMs])
      expect(phase).toBeGreaterThanOrEqual(0)
    const second = await send(receiver.origin, kept)
    expect(second).toMatchObject({ status: 200, connectMs: null, tlsMs: null })
    expect(opened).toHaveLength(1)
    // Without connections to keep, there is one for each.
    await send(receiver.origin)
    expect(opened).toHaveLength(2)
  })

  it('opens a new connection at once where the receiver has closed the old one, marked', async () => {
    const sockets: Socket[] = []
    const receiver = await receiverOf(status(200), (step, socket) => {
      if (step === 'connected') sockets.push(socket)
      // Resets the connection as the second request arrives on it.
      if (step === 'answered' && sockets.length === 1)
        socket.once('data', () => socket.resetAndDestroy())
    })
    const kept = keep()
    await send(receiver.origin, kept)
    expect(await send(receiver.origin, kept)).toMatchObject({ status: 200, kind: null })
    const repeats = receiver.received.map(({ headers }) => headers['x-portreeve-repeat'])
    expect(repeats.at(-1)).toBe('maybe-delivered')
    expect(sockets).toHaveLength(2)
  })

  it('keeps no connection that the receiver wants closed, or whose answer is long', async () => {
    const opened: Socket[] = []
    const receiver = await receiverOf(status(200, 'x'.repeat(100_000)), (step, socket) => {
      if (step === 'connected') opened.push(socket)
    })
    const kept = keep()
    const { status: code } = await send(receiver.origin, kept)
    receiver.answerWith(status(200, '', { connection: 'close' }))
    await send(receiver.origin, kept)
    await send(receiver.origin, kept)
    expect([code, opened.length]).toEqual([200, 3])
    await until(
      () => Object.keys(kept.freeSockets),
      (names) => names.length === 0,
      10,
    )
  })

  it.each<[string, (socket: Socket) => void, object]>([
    ['silence', () => {}, { kind: 'unanswered', error: expect.stringContaining('in time') }],
    ['a reset', (socket) => socket.resetAndDestroy(), { kind: 'unanswered' }],
    ['an end without an answer', (socket) => socket.end(), { kind: 'unanswered' }],
    ['garbage', (socket) => socket.end('\u0000\u0001 garbage\r\n\r\n'), { kind: 'unanswered' }],
    [
      'a reset within the headers',
      (socket) => socket.write('HTTP/1.1 200 O', () => socket.resetAndDestroy()),
      { kind: 'unanswered' },
    ],
    [
      'a reset within the body',
      (socket) =>
        socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc', () =>
          socket.resetAndDestroy(),
        ),
      { kind: null, status: 200 },
    ],
    [
      'a status of its own',
      (socket) => socket.end('HTTP/1.1 599 x\r\n\r\n'),
      { kind: 'status', status: 599 },
    ],
  ])('tells the truth about %s', async (_name, onRequest, expected) => {
    const origin = await rawServer(onRequest)
    expect(await send(origin, keep(), { timeout: 1_000 })).toMatchObject(expected)
    expect(await send(origin, undefined, { timeout: 1_000 })).toMatchObject(expected)
  })

  it('was not sent where the connection is refused', async () => {
    const receiver = await startReceiver(status(200))
    await receiver.close()
    const failed = await send(receiver.origin, keep())
    expect(failed).toMatchObject({ kind: 'unreachable', connectMs: null, firstByteMs: null })
    expect(failed.error).toContain('refused')
  })
})
