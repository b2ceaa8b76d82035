import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Static } from 'typebox'
import type { DeliveryDetails, WebhookDelivery } from '../../src/webhooks/forwarding/shapes.ts'
import { until } from '../alerts/module.ts'
import { startDns, type DnsServer } from '../servers/dns.ts'
import { startReceiver, status, type Receiver } from '../servers/receiver.ts'
import { startWebhooks, type Answer, type WebhooksTest } from './module.ts'

type Delivery = Static<typeof WebhookDelivery>
type FaultAnswer = Answer & {
  deliveries: Delivery[]
  attempts: Static<typeof DeliveryDetails>['attempts']
}

let portreeve: WebhooksTest
let receiver: Receiver
let dns: DnsServer

beforeAll(async () => {
  dns = await startDns({ ttl: 0, negativeTtl: 0 })
  portreeve = await startWebhooks({
    REQUEST_LIMITS: 'off',
    WEBHOOK_FORWARDING: 'all',
    FORWARD_PRIVATE_TARGETS: '127.0.0.1,::1',
    DNS_SERVERS: `127.0.0.1:${dns.port}`,
  })
})
afterAll(async () => {
  await portreeve.stop()
  await dns.close()
})
beforeEach(async () => void (receiver = await startReceiver(status(204))))
afterEach(() => receiver.close())

const portOf = (url: string) => Number(new URL(url).port)

/**
 * A proxy in front of the receiver, whose first connections have a fault.
 * @param fault what is done with a connection once the request arrived
 */
async function startFaultyProxy(fault: (socket: Socket) => void, times: number) {
  let left = times
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket.on('error', () => {}))
    if (left-- > 0) {
      socket.once('data', () => fault(socket))
      return
    }
    const upstream = connect(portOf(receiver.origin), '127.0.0.1').on('error', () => {})
    socket.pipe(upstream).pipe(socket)
    socket.once('close', () => upstream.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    close() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/**
 * Forwards one request, and returns its delivery with all attempts once it has arrived.
 * @param onFailed called once an attempt has failed
 */
async function forward(url: string, settings: object = {}, onFailed?: () => void) {
  const endpoint = await portreeve.makeEndpoint()
  const body = { url, schedule: [1, 1, 1], timeoutSeconds: 2, ...settings }
  const added = await portreeve.api('POST', `/${endpoint.id}/destinations`, body)
  expect(added.json.error).toBeUndefined()
  const sent = { method: 'POST', body: 'x'.repeat(5_000) }
  await portreeve.portreeve.request(`/webhooks/${endpoint.token}`, sent)
  const api = async (path: string) =>
    (await portreeve.api('GET', `/${endpoint.id}${path}`)).json as FaultAnswer
  const [delivery] = await until(
    async () => (await api('/deliveries')).deliveries,
    ([one]) => {
      if (one?.state === 'waiting' && one.attempts > 0) onFailed?.()
      return one?.state === 'delivered'
    },
    40,
  )
  return (await api(`/deliveries/${delivery?.id}`)).attempts
}

const repeats = () => receiver.received.map(({ headers }) => headers['x-portreeve-repeat'])

describe('a request to a receiver behind a proxy with faults', () => {
  it.each<[string, (socket: Socket) => void, RegExp]>([
    ['never answers', () => {}, /did not respond in time/],
    ['resets the connection', (socket) => socket.resetAndDestroy(), /ECONNRESET|hang up/],
    ['closes its half', (socket) => socket.end(), /hang up/],
    [
      'resets within the answer',
      (socket) => {
        socket.write('HTTP/1.1 200 OK\r\nConte', () => socket.resetAndDestroy())
      },
      /ECONNRESET|hang up|aborted/,
    ],
    [
      'answers a byte a second',
      (socket) => {
        const bytes = 'HTTP/1.1 200 OK\r\n\r\n'.split('')
        const timer = setInterval(() => socket.write(bytes.shift() ?? ''), 1_000)
        socket.once('close', () => clearInterval(timer))
      },
      /did not respond in time/,
    ],
    ['answers garbage', (socket) => socket.write('\0\u0001garbage\r\n\r\n'), /Parse Error/],
  ])(
    'arrives where it first %s, and says that it may have arrived before',
    async (_, fault, error) => {
      const proxy = await startFaultyProxy(fault, 1)
      try {
        const attempts = await forward(proxy.url)
        expect(attempts.map(({ kind, status: code }) => [kind, code])).toEqual([
          ['unanswered', null],
          [null, 204],
        ])
        expect(attempts[0]?.error).toMatch(error)
        expect(repeats()).toEqual(['maybe-delivered'])
      } finally {
        proxy.close()
      }
    },
  )

  it('arrives once the receiver listens, and was certainly not delivered before', async () => {
    const closed = await startFaultyProxy(() => {}, 0)
    const { port } = new URL(closed.url)
    closed.close()
    const server = createServer((socket) => {
      const upstream = connect(portOf(receiver.origin), '127.0.0.1')
      socket.pipe(upstream).pipe(socket)
    })
    const listen = () => void (server.listening || server.listen(Number(port), '127.0.0.1'))
    try {
      const attempts = await forward(closed.url, {}, listen)
      expect(attempts.length).toBeGreaterThan(1)
      expect(attempts[0]).toMatchObject({ kind: 'unreachable', status: null, address: null })
      expect(repeats()).toEqual(['retry'])
    } finally {
      server.close()
    }
  })

  it('arrives over IPv4 at once where the IPv6 address is dead', async () => {
    Object.assign(dns.records, { 'dual.test AAAA': ['::1'], 'dual.test A': ['127.0.0.1'] })
    const attempts = await forward(`http://dual.test:${portOf(receiver.origin)}/`)
    expect(attempts.map(({ kind, address }) => [kind, address])).toEqual([[null, '127.0.0.1']])
    expect(repeats()).toEqual(['no'])
  })

  it('goes to no address that a name got meanwhile and that is not allowed', async () => {
    const name = 'rebinding.test'
    const asked = () => dns.queries.filter((one) => one.name === name && one.type === 'A').length
    // The second attempt resolves the name again.
    Object.defineProperty(dns.records, `${name} A`, {
      enumerable: true,
      get: () => [asked() === 2 ? '127.0.0.2' : '127.0.0.1'],
    })
    receiver.answerWith((response) => {
      response.writeHead(500).end()
      receiver.answerWith(status(204))
    })
    const attempts = await forward(`http://rebinding.test:${portOf(receiver.origin)}/`)
    expect(attempts.map(({ kind, status: code }) => [kind, code])).toEqual([
      ['status', 500],
      ['blocked', null],
      [null, 204],
    ])
    expect(attempts[1]?.error).toContain('127.0.0.2')
    expect(repeats()).toEqual(['no', 'retry'])
  })
})
