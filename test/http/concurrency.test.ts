import { once } from 'node:events'
import { request as httpRequest, type ClientRequest } from 'node:http'
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Caller } from '../../src/http/auth.ts'
import { limitConcurrency } from '../../src/http/limits/concurrency.ts'
import { createServer } from '../../src/http/http-server.ts'
import { createLog } from '../../src/log.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

/** Of a server without a service. */
const OPTIONS = {
  log: createLog('silent'),
  version: '0',
  trustedProxies: [],
  isUnavailable: () => false,
  isReady: async () => true,
}

let portreeve: TestService
let alice: Person
let bob: Person
let endpoint: { id: string; token: string }
beforeAll(async () => {
  portreeve = await startTestService()
  ;[alice, bob] = [await portreeve.addPerson('Alice'), await portreeve.addPerson('Bob')]
  const answer = await portreeve.request('/api/webhook/endpoints', {
    method: 'POST',
    token: alice.token,
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  endpoint = ((await answer.json()) as { endpoint: typeof endpoint }).endpoint
  for (let n = 0; n < 8; n++)
    await portreeve.request(`/webhooks/${endpoint.token}`, {
      method: 'POST',
      body: 'x'.repeat(1 << 20),
    })
})
afterAll(() => portreeve.stop())

const statusOf = async ({ token }: Person, path = '/api/v1/tokens') =>
  (await portreeve.request(path, { token })).status

/** Sends the head of a request with a large body, and none of the body. */
function beginLargeBody({ token }: Person) {
  const request = httpRequest(`${portreeve.url}/api/v1/alerts/channels`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'content-length': 500_000,
    },
  })
  request.on('error', () => {})
  request.flushHeaders()
  return request
}

/** Waits until the head of the request is on its way. */
async function connected(request: ClientRequest): Promise<void> {
  const [socket] = (await once(request, 'socket')) as [Socket]
  if (socket.connecting) await once(socket, 'connect')
}

/** Asks for lists with large bodies, and reads nothing of them. */
function readNothing(count: number) {
  const { hostname, port } = new URL(portreeve.url)
  const path = `/api/webhook/endpoints/${endpoint.id}/requests?limit=500`
  const sockets = Array.from({ length: count }, () => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(
        `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${alice.token}\r\n\r\n`,
      )
    })
    return socket.on('error', () => {}).pause()
  })
  return () => sockets.forEach((socket) => socket.destroy())
}

describe('requests of one account', () => {
  it('wait for one another when their answers are not read, and delay no other account', async () => {
    const stop = readNothing(60)
    try {
      const waiting = statusOf(alice)
      for (let n = 0; n < 20; n++) expect(await statusOf(bob)).toBe(200)
      stop()
      expect(await waiting).toBe(200)
    } finally {
      stop()
    }
  })

  it('with large bodies wait for two of them, also in another workspace, while small ones pass', async () => {
    const second = await portreeve.addWorkspace(alice)
    const begun = [beginLargeBody(alice), beginLargeBody(alice)]
    // Connections that are opened together arrive in any order: the third comes after the others.
    await Promise.all(begun.map(connected))
    for (let n = 0; n < 5; n++) expect(await statusOf(alice)).toBe(200)
    const last = beginLargeBody({ ...alice, ...second })
    let isAnswered = false
    const third = new Promise<number>((resolve) =>
      last.once('response', ({ statusCode = 0 }) => resolve(statusCode)),
    ).finally(() => (isAnswered = true))
    last.end(`{"type":"email"${' '.repeat(499_984)}}`)
    // Without its turn, it would be answered long before the last of these.
    for (let n = 0; n < 50; n++) expect(await statusOf(alice)).toBe(200)
    expect(isAnswered).toBe(false)
    begun[0]?.destroy()
    expect(await third).toBe(400)
    begun[1]?.destroy()
  })

  it('with large bodies leave most of the process to others', async () => {
    const body = `{"type":"email"${' '.repeat(900_000)}}`
    const began = performance.now()
    for (let n = 0; n < 6; n++) {
      const headers = { 'content-type': 'application/json' }
      const options = { token: alice.token, method: 'POST', headers, body }
      expect((await portreeve.request('/api/v1/alerts/channels', options)).status).toBe(400)
    }
    // Two are handled at once. Each is followed by a fifth of a second in which none takes its place.
    expect(performance.now() - began).toBeGreaterThan(390)
  })

  it('are handled again after clients that waited have left', async () => {
    for (let n = 0; n < 3; n++) {
      const begun = Array.from({ length: 10 }, () => beginLargeBody(alice))
      await statusOf(alice)
      begun.forEach((one) => one.destroy())
    }
    const last = beginLargeBody(alice)
    const answer = new Promise<number>((resolve) =>
      last.once('response', ({ statusCode = 0 }) => resolve(statusCode)),
    )
    last.end(`{"type":"email"${' '.repeat(499_984)}}`)
    expect(await answer).toBe(400)
  })

  it('are rejected beyond 200 that wait', async () => {
    // Whichever comes last: connections that are opened together arrive in any order.
    const begun = Array.from({ length: 203 }, () => beginLargeBody(bob))
    const answers = begun.map(
      (one) =>
        new Promise<[number, string?]>((resolve) =>
          one.once('response', ({ statusCode = 0, headers }) =>
            resolve([statusCode, headers['retry-after']]),
          ),
        ),
    )
    expect(await Promise.race(answers)).toEqual([429, '2'])
    begun.forEach((one) => one.destroy())
  })
})

describe('requests whose work grows with what is stored', () => {
  it('have two places for each account, apart from its others', async () => {
    const app = await createServer(OPTIONS)
    app.addHook('onRequest', async (request) => {
      request.caller = { responsibleId: request.headers['x-test'] } as unknown as Caller
    })
    limitConcurrency(app, () => undefined)
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    let running = 0
    app.get('/heavy', { config: { isHeavy: true } }, async () => {
      running++
      await released
      return 'done'
    })
    app.get('/light', async () => 'done')
    const ask = (url: string, who: string) =>
      app.inject({ url, headers: { 'x-test': who } }).then(({ statusCode }) => statusCode)
    const heavy = Array.from({ length: 5 }, () => ask('/heavy', 'one'))
    await vi.waitFor(() => expect(running).toBe(2))
    expect(await ask('/light', 'one')).toBe(200)
    const other = ask('/heavy', 'two')
    await vi.waitFor(() => expect(running).toBe(3))
    release()
    expect(await Promise.all([...heavy, other])).toEqual(Array(6).fill(200))
    await app.close()
  })
})

describe('requests without an account', () => {
  it('have 8 places for each network, or for the account of a session that was seen lately', async () => {
    const app = await createServer(OPTIONS)
    limitConcurrency(app, (cookie) => cookie?.match(/account \d/)?.[0])
    const { promise: released, resolve: release } = Promise.withResolvers<void>()
    let running = 0
    app.get('/slow', async () => {
      running++
      await released
      return 'done'
    })
    app.get('/quick', async () => 'done')
    const ask = (url: string, remoteAddress: string, cookie = '') =>
      app.inject({ url, remoteAddress, headers: { cookie } }).then(({ statusCode }) => statusCode)
    const slow = Array.from({ length: 20 }, (_, n) => ask('/slow', `2001:db8::${n + 1}`))
    await vi.waitFor(() => expect(running).toBe(8))
    let isAnswered = false
    const sameNetwork = ask('/quick', '2001:db8::ffff').finally(() => (isAnswered = true))
    const unknownPath = ask('/nothing', '2001:db8::ffff')
    // Others do not wait: another network, a known account, a probe.
    expect(await ask('/quick', '2001:db8:0:1::1')).toBe(200)
    expect(await ask('/quick', '2001:db8::ffff', 'account 1')).toBe(200)
    expect(await ask('/healthz', '2001:db8::ffff')).toBe(200)
    expect([running, isAnswered]).toEqual([8, false])
    const ofAccount = Array.from({ length: 9 }, (_, n) => ask('/slow', `192.0.2.${n}`, 'account 1'))
    await vi.waitFor(() => expect(running).toBe(16))
    expect(running).toBe(16)
    release()
    expect(await Promise.all([...slow, ...ofAccount, sameNetwork])).toEqual(Array(30).fill(200))
    expect(await unknownPath).toBe(404)
    await app.close()
  })
})
