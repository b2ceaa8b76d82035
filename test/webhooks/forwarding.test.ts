import { createHash, createHmac, createPublicKey, verify } from 'node:crypto'
import { createVerifier, httpbis } from 'http-message-signatures'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Static } from 'typebox'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { checkSignature } from '../../src/protocols/webhook-signature.ts'
import { claimDeliveries } from '../../src/webhooks/forwarding/deliveries.sql.ts'
import type { ClaimedDestination } from '../../src/webhooks/forwarding/destinations.sql.ts'
import type {
  DeliveryDetails,
  WebhookDelivery,
  WebhookDestination,
  WebhookReplay,
} from '../../src/webhooks/forwarding/shapes.ts'
import { deleteBeyond } from '../../src/webhooks/retention/capture-retention.sql.ts'
import { until } from '../alerts/module.ts'
import { startReceiver, status, type Received, type Receiver } from '../servers/receiver.ts'
import type { Person } from '../service.ts'
import { startWebhooks, type Answer, type Endpoint, type WebhooksTest } from './module.ts'

type Destination = WebhookDestination
type Delivery = Static<typeof WebhookDelivery>
type Replay = Static<typeof WebhookReplay>
type ForwardingAnswer = Answer & {
  destination: Destination
  destinations: Destination[]
  secret: string
  delivery: Delivery
  deliveries: Delivery[]
  replay: Replay
  replays: Replay[]
  attempts: Static<typeof DeliveryDetails>['attempts']
}

let portreeve: WebhooksTest
let receiver: Receiver
let database: Database
let charlie: Person

beforeAll(async () => {
  portreeve = await startWebhooks()
  database = openDatabase(portreeve.portreeve.databaseUrl)
  charlie = await portreeve.portreeve.addPerson('Charlie')
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
})
beforeEach(async () => void (receiver = await startReceiver(status(204))))
afterEach(() => receiver.close())

async function api(method: string, path: string, body?: object, token?: string) {
  const answer = await portreeve.api(method, path, body, token)
  return { status: answer.status, json: answer.json as ForwardingAnswer }
}

/** Adds a destination whose retries follow after a second. */
async function addDestination(
  { id }: Endpoint,
  settings: object = {},
): Promise<Destination & { secret: string }> {
  const body = { url: `${receiver.origin}/in`, schedule: [1, 1, 1], ...settings }
  const { status: code, json } = await api('POST', `/${id}/destinations`, body)
  expect([code, json.error]).toEqual([201, undefined])
  return { ...json.destination, secret: json.secret }
}

const send = ({ token }: Endpoint, init: RequestInit = {}, rest = '') =>
  portreeve.portreeve.request(`/webhooks/${token}${rest}`, { method: 'POST', ...init })

/** A destination as an instance has claimed it, though it is paused and sends nothing by itself. */
async function claimPaused({ id: endpointId }: Endpoint, id: string): Promise<ClaimedDestination> {
  await database.pool.query(
    `update webhook_delivery set state = 'waiting' where destination_id = $1 and state = 'held'`,
    [id],
  )
  const { rows } = await database.pool.query(
    'update webhook_destination set claims = 0 where id = $1 returning revision',
    [id],
  )
  return { id, endpointId, orderMode: 'none', claims: 0, ...rows[0] } as ClaimedDestination
}

const received = (count: number) =>
  until(
    () => receiver.received,
    (all) => all.length >= count,
    30,
  )

/** Waits until all deliveries of an endpoint are in one of these states, oldest first. */
async function deliveries(
  { id }: Endpoint,
  count: number,
  ...states: string[]
): Promise<Delivery[]> {
  const read = async () => (await api('GET', `/${id}/deliveries`)).json.deliveries
  const all = await until(
    read,
    (some) => some.length >= count && some.every(({ state }) => states.includes(state)),
    30,
  )
  return all.toReversed()
}

const headerOf = ({ headers }: Received, name: string) => headers[name]
const rawSignature = (request: Received): [string, string][] =>
  ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => [
    name,
    String(headerOf(request, name)),
  ])

describe('a destination', () => {
  it('gets each request byte for byte, signed, with what is known of it', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const destination = await addDestination(endpoint, {
      label: 'backend',
      headers: [['Authorization', 'Bearer own']],
    })
    expect(destination).toMatchObject({ state: 'active', waiting: 0, order: { mode: 'none' } })
    expect(destination.secret).toMatch(/^whsec_/)
    const body = Buffer.from([0, 255, 10, 13, 34])
    const headers = {
      'content-type': 'application/octet-stream',
      'x-twice': 'a',
      authorization: 'Bearer theirs',
      'webhook-id': 'msg_sender',
      'x-portreeve-attempt': '9',
    }
    await send(endpoint, { method: 'PUT', body, headers }, '/orders/%20?a=%zz&a')
    const [request] = await received(1)
    if (!request) throw new Error('nothing was received')
    expect([request.method, request.path]).toEqual(['PUT', '/in/orders/%20?a=%zz&a'])
    expect(request.bytes.equals(body)).toBe(true)
    const [captured] = await portreeve.captured(endpoint)
    expect(request.headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': '5',
      authorization: 'Bearer own',
      'x-twice': 'a',
      'webhook-id': `req_${captured?.id}`,
      'x-original-webhook-id': 'msg_sender',
      'x-portreeve-request': captured?.id,
      'x-portreeve-attempt': '1',
      'x-portreeve-repeat': 'no',
      'x-portreeve-hops': '1',
    })
    const verdict = checkSignature({ scheme: 'standard' }, destination.secret, {
      headers: rawSignature(request),
      body,
      truncated: false,
      receivedAt: new Date(),
    })
    expect(verdict.status).toBe('valid')
    const [delivery] = await deliveries(endpoint, 1, 'delivered')
    expect(delivery).toMatchObject({ requestId: captured?.id, attempts: 1, status: 204 })
    const { json } = await api('GET', `/${endpoint.id}/deliveries/${delivery?.id}`)
    expect(json.attempts).toMatchObject([
      { number: 1, status: 204, kind: null, address: '127.0.0.1', answer: null },
    ])
  })

  it('can be signed with Ed25519, or not at all', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const signed = await addDestination(endpoint, { sign: 'standard-ed25519' })
    expect(signed.secret).toBeNull()
    await send(endpoint, { body: 'x' })
    const [request] = await received(1)
    const [[, id], [, time], [, signature]] = rawSignature(request as Received) as [
      [string, string],
      [string, string],
      [string, string],
    ]
    const x = Buffer.from(signed.publicKey?.replace('whpk_', '') ?? '', 'base64')
    const jwk = { kty: 'OKP', crv: 'Ed25519', x: x.toString('base64url') }
    const key = createPublicKey({ key: jwk, format: 'jwk' })
    const bytes = Buffer.from(signature.replace('v1a,', ''), 'base64')
    expect(verify(null, Buffer.from(`${id}.${time}.x`), key, bytes)).toBe(true)
    await api('PUT', `/${endpoint.id}/destinations/${signed.id}`, { sign: 'none' })
    await send(endpoint, { body: 'y' })
    const [, unsigned] = await received(2)
    expect(unsigned && headerOf(unsigned, 'webhook-signature')).toBeUndefined()
  })

  it('can be signed with HTTP Message Signatures, also of an odd target', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const signed = await addDestination(endpoint, { sign: 'rfc9421' })
    expect([signed.secret, signed.publicKey]).toEqual([null, expect.stringMatching(/^-----BEGIN/)])
    const headers = { signature: 'sig=:AAAA:', 'content-digest': 'sha-256=:AAAA:' }
    await send(endpoint, { body: 'x', headers }, '/a%20b?c=%zz')
    const verified = async (request: Received, publicKey: string | null) => {
      const key = createPublicKey(publicKey ?? '')
      const message = {
        method: request.method,
        url: receiver.origin + request.path,
        headers: request.headers as Record<string, string>,
      }
      const required = ['@method', '@target-uri', 'content-digest', 'webhook-id']
      return httpbis.verifyMessage(
        {
          keyLookup: async () => ({ algs: ['ed25519'], verify: createVerifier(key, 'ed25519') }),
          requiredFields: required,
        },
        message,
      )
    }
    const [request] = (await received(1)) as [Received]
    expect(await verified(request, signed.publicKey)).toBe(true)
    expect(request.headers).toMatchObject({
      'content-digest': `sha-256=:${createHash('sha256').update('x').digest('base64')}:`,
      'x-original-signature': 'sig=:AAAA:',
      'x-original-content-digest': 'sha-256=:AAAA:',
    })
    // After a rotation, the signature before is there, too.
    await api('POST', `/${endpoint.id}/destinations/${signed.id}/rotate-secret`)
    await send(endpoint, { body: 'y' })
    const [, second] = (await received(2)) as [Received, Received]
    expect(headerOf(second, 'signature')).toMatch(/^sig=:.+:, previous=:.+:$/)
    expect(headerOf(second, 'signature-input')).toMatch(/^sig=\(.+\).*, previous=\(.+\)/)
  })

  it('gets a changed request where it wants one, signed as it is sent, or none at all', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const patch = [
      { op: 'test', path: '/v', value: 1 },
      { op: 'remove', path: '/secret' },
      { op: 'add', path: '/source', value: 'shop' },
    ]
    const change = { method: 'PUT', path: '/new', removeHeaders: ['X-Internal'], patch }
    const destination = await addDestination(endpoint, { change })
    expect(destination.change).toEqual(change)
    const headers = { 'x-internal': 'a', 'content-digest': 'sha-256=:AAAA:' }
    const body = '{"id":12345678901234567890,"secret":"s","v":1}'
    await send(endpoint, { body, headers }, '/old?a=b')
    const [request] = (await received(1)) as [Received]
    expect([request.method, request.path]).toEqual(['PUT', '/in/new?a=b'])
    expect(request.body).toBe('{"id":12345678901234567890,"v":1,"source":"shop"}')
    expect(request.headers).toMatchObject({ 'content-length': String(request.bytes.length) })
    expect([headerOf(request, 'x-internal'), headerOf(request, 'content-digest')]).toEqual([
      undefined,
      undefined,
    ])
    const signed = { headers: rawSignature(request), body: request.bytes, truncated: false }
    const checked = { ...signed, receivedAt: new Date() }
    expect(checkSignature({ scheme: 'standard' }, destination.secret, checked).status).toBe('valid')
    await send(endpoint, { body: '{"v":2}' })
    await send(endpoint, { body: 'not json' })
    const [, second, third] = await deliveries(endpoint, 3, 'delivered', 'unsendable')
    expect([second?.error, third?.error]).toEqual([
      expect.stringContaining('Operation 1 (test /v) does not hold'),
      expect.stringContaining('not JSON'),
    ])
    // The stored request is as it was sent.
    expect((await portreeve.captured(endpoint, 3)).at(-1)?.body).toBe(body)
    const path = `/${endpoint.id}/destinations/${destination.id}`
    expect((await api('PUT', path, { change: null })).json.destination.change).toBeNull()
  })

  it('answers a test event, of which nothing is stored', async () => {
    receiver.answerWith(status(418, 'a private answer'))
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint)
    await api('POST', `/${endpoint.id}/destinations/${id}/pause`)
    const path = `/${endpoint.id}/destinations/${id}/test`
    const tested = (await api('POST', path)).json as unknown as { attempt: object }
    // The answer of a private address is not shown.
    expect(tested.attempt).toMatchObject({ delivered: false, status: 418, answer: null })
    const [request] = (await received(1)) as [Received]
    expect(request.headers).toMatchObject({
      'x-portreeve-test': '1',
      'webhook-signature': expect.stringMatching(/^v1,/),
    })
    expect(JSON.parse(request.body)).toMatchObject({ type: 'portreeve.test' })
    const { requests } = (await portreeve.api('GET', `/${endpoint.id}/requests`)).json
    const { deliveries: all } = (await api('GET', `/${endpoint.id}/deliveries`)).json
    expect([requests, all]).toEqual([[], []])
    expect((await api('POST', path, undefined, charlie.token)).status).toBe(404)
    await api('PUT', `/${endpoint.id}/destinations/${id}`, { url: 'https://closed.invalid/' })
    const failed = (await api('POST', path)).json as unknown as { attempt: object }
    expect(failed.attempt).toMatchObject({ delivered: false, status: null, kind: 'unreachable' })
  })

  it('gets a retry with the same id and a new signature, until it succeeds', async () => {
    const statuses = [500, 503, 200]
    receiver.answerWith((response) => response.writeHead(statuses.shift() ?? 200).end())
    const endpoint = await portreeve.makeEndpoint()
    await addDestination(endpoint)
    await send(endpoint, { body: 'x' })
    const all = await received(3)
    const [delivery] = await deliveries(endpoint, 1, 'delivered')
    expect(delivery).toMatchObject({ attempts: 3, status: 200, uncertain: false })
    expect(new Set(all.map((one) => headerOf(one, 'webhook-id'))).size).toBe(1)
    expect(all.map((one) => headerOf(one, 'x-portreeve-attempt'))).toEqual(['1', '2', '3'])
    expect(all.map((one) => headerOf(one, 'x-portreeve-repeat'))).toEqual(['no', 'retry', 'retry'])
    const times = all.map((one) => headerOf(one, 'webhook-timestamp'))
    expect(new Set(times).size).toBeGreaterThan(1)
  })

  it('is marked where it may have had a request whose attempt had no answer', async () => {
    let count = 0
    receiver.answerWith((response) => {
      if (++count === 1) response.socket?.destroy()
      else response.writeHead(200).end()
    })
    const endpoint = await portreeve.makeEndpoint()
    await addDestination(endpoint)
    await send(endpoint, { body: 'x' })
    const all = await received(2)
    expect(all.map((one) => headerOf(one, 'x-portreeve-repeat'))).toEqual(['no', 'maybe-delivered'])
    const [delivery] = await deliveries(endpoint, 1, 'delivered')
    const { json } = await api('GET', `/${endpoint.id}/deliveries/${delivery?.id}`)
    expect(json.attempts.map(({ kind }) => kind)).toEqual(['unanswered', null])
  })

  it('gets again, marked, what an instance was sending that died', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint)
    await api('POST', `/${endpoint.id}/destinations/${id}/pause`)
    await send(endpoint, { body: 'x' })
    const [held] = await deliveries(endpoint, 1, 'held')
    await database.pool.query(
      `update webhook_delivery set state = 'sending', run = -1 where id = $1`,
      [held?.id],
    )
    await database.pool.query(
      `update webhook_destination set claimed_until = now() - interval '1 s' where id = $1`,
      [id],
    )
    await api('POST', `/${endpoint.id}/destinations/${id}/resume`, {})
    const [request] = await received(1)
    expect(request && headerOf(request, 'x-portreeve-repeat')).toBe('maybe-delivered')
    expect(await deliveries(endpoint, 1, 'delivered')).toHaveLength(1)
  })

  it('is cancelled when its owner drops what waits and the instance that sent it has died', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint)
    const path = `/${endpoint.id}/destinations/${id}`
    await api('POST', `${path}/pause`)
    await send(endpoint)
    const [held] = await deliveries(endpoint, 1, 'held')
    const change = (statement: string, changed?: string) =>
      database.pool.query(statement, [changed])
    await change(`update webhook_delivery set state = 'sending', run = -1 where id = $1`, held?.id)
    const claimed = (interval: string) =>
      change(
        `update webhook_destination set claimed_until = now() + interval '${interval}' where id = $1`,
        id,
      )
    // An instance that lives stores how its attempt ended.
    await claimed('1 h')
    await api('POST', `${path}/resume`, { waiting: 'drop' })
    await deliveries(endpoint, 1, 'sending')
    await api('POST', `${path}/pause`)
    await claimed('-1 s')
    await api('POST', `${path}/resume`, { waiting: 'drop' })
    await deliveries(endpoint, 1, 'cancelled')
    expect(receiver.received).toEqual([])
  })

  it('is not claimed with settings that a user has changed since', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint)
    const path = `/${endpoint.id}/destinations/${id}`
    const changes: [string, string, object?][] = [
      ['PUT', path, { headers: [['x-a', 'b']] }],
      ['PUT', path, { sign: 'none' }],
      ['POST', `${path}/rotate-secret`],
    ]
    await api('POST', `${path}/pause`)
    await send(endpoint)
    for (const [method, changed, body] of changes) {
      const before = await claimPaused(endpoint, id)
      await api(method, changed, body)
      expect(await claimDeliveries(database.db, before, 50)).toEqual([])
    }
  })

  it('is read a few mebibytes at a time, however many requests it may get at once', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint, { concurrency: 50 })
    await api('POST', `/${endpoint.id}/destinations/${id}/pause`)
    for (let count = 0; count < 6; count++) await send(endpoint, { body: 'x'.repeat(2 ** 20) })
    await deliveries(endpoint, 6, 'held')
    const destination = await claimPaused(endpoint, id)
    const claimed = await claimDeliveries(database.db, destination, 50)
    expect(claimed.map(({ request }) => request?.body.length)).toEqual(Array(4).fill(2 ** 20))
    await api('POST', `/${endpoint.id}/destinations/${id}/resume`, {})
    expect(await deliveries(endpoint, 6, 'delivered')).toHaveLength(6)
  })

  it('is not redirected, and ends after the last attempt', async () => {
    receiver.answerWith(status(302, '', { location: `${receiver.origin}/elsewhere` }))
    const endpoint = await portreeve.makeEndpoint()
    await addDestination(endpoint, { schedule: [1] })
    await send(endpoint, { body: 'x' })
    const [delivery] = await deliveries(endpoint, 1, 'dead')
    expect(delivery).toMatchObject({ status: 302, attempts: 2 })
    expect(delivery?.error).toContain('Change the URL')
    expect(receiver.received.map(({ path }) => path)).toEqual(['/in', '/in'])
    // A retry by hand is never swallowed, whatever was tried before.
    receiver.answerWith(status(200))
    const path = `/${endpoint.id}/deliveries/${delivery?.id}/retry`
    expect((await api('POST', path)).status).toBe(202)
    expect(await deliveries(endpoint, 1, 'delivered')).toMatchObject([{ status: 200 }])
    expect((await api('POST', path)).status).toBe(202)
    expect(await received(4)).toHaveLength(4)
  })

  it('ends at once at a final status', async () => {
    receiver.answerWith(status(422))
    const endpoint = await portreeve.makeEndpoint()
    await addDestination(endpoint, { finalStatuses: [422] })
    await send(endpoint, { body: 'x' })
    expect(await deliveries(endpoint, 1, 'dead')).toMatchObject([{ status: 422, attempts: 1 }])
    expect(receiver.received).toHaveLength(1)
  })

  it('is turned off by 410, with an alert, and keeps what waits until it is resumed', async () => {
    receiver.answerWith(status(410))
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint, { label: 'gone backend' })
    await send(endpoint, { body: '1' })
    await deliveries(endpoint, 1, 'held')
    const path = `/${endpoint.id}/destinations/${id}`
    const { json } = await api('GET', path)
    expect(json.destination).toMatchObject({ state: 'off', held: 1 })
    expect(json.destination.reason).toContain('410')
    const alerts = await portreeve.portreeve.request('/api/v1/alerts', portreeve.alice)
    expect(JSON.stringify(await alerts.json())).toContain('Forwarding to gone backend is off')
    await send(endpoint, { body: '2' })
    expect(await deliveries(endpoint, 2, 'held')).toHaveLength(2)
    receiver.answerWith(status(200))
    await api('POST', `${path}/resume`, { waiting: 'send' })
    await deliveries(endpoint, 2, 'delivered')
    expect((await api('GET', path)).json.destination).toMatchObject({
      state: 'active',
      reason: null,
    })
  })

  it('waits as a whole as its receiver asks, which uses up no attempt', async () => {
    let count = 0
    receiver.answerWith((response) =>
      ++count === 1
        ? response.writeHead(429, { 'retry-after': '2' }).end()
        : response.writeHead(200).end(),
    )
    const endpoint = await portreeve.makeEndpoint()
    await addDestination(endpoint, { concurrency: 1 })
    const startedAt = Date.now()
    await send(endpoint, { body: '1' })
    await received(1)
    await send(endpoint, { body: '2' })
    const all = await deliveries(endpoint, 2, 'delivered')
    expect(all.map(({ attempts }) => attempts)).toEqual([1, 1])
    expect(Date.now() - startedAt).toBeGreaterThanOrEqual(1_900)
  })

  it('gets what it was paused for, or not, as its owner decides', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint)
    const path = `/${endpoint.id}/destinations/${id}`
    expect((await api('POST', `${path}/pause`)).json.destination.state).toBe('paused')
    await send(endpoint, { body: '1' })
    await deliveries(endpoint, 1, 'held')
    await api('POST', `${path}/resume`, { waiting: 'drop' })
    await send(endpoint, { body: '2' })
    const all = await deliveries(endpoint, 2, 'cancelled', 'delivered')
    expect(all.map(({ state }) => state)).toEqual(['cancelled', 'delivered'])
    expect(receiver.received.map(({ body }) => body)).toEqual(['2'])
  })

  it('gets what was held for it while it was resumed', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint)
    await api('POST', `/${endpoint.id}/destinations/${id}/pause`)
    await send(endpoint, { body: 'captured as it was resumed' })
    await deliveries(endpoint, 1, 'held')
    await database.pool.query(`update webhook_destination set state = 'active' where id = $1`, [id])
    expect(await received(1)).toMatchObject([{ body: 'captured as it was resumed' }])
  })

  it('holds what failed while it was paused, and drops it if its owner wants', async () => {
    receiver.answerWith((response) => void setTimeout(() => response.writeHead(500).end(), 500))
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint)
    const path = `/${endpoint.id}/destinations/${id}`
    await send(endpoint, { body: '1' })
    await received(1)
    await api('POST', `${path}/pause`)
    expect(await deliveries(endpoint, 1, 'held')).toMatchObject([{ status: 500, attempts: 1 }])
    await api('POST', `${path}/resume`, { waiting: 'drop' })
    expect(await deliveries(endpoint, 1, 'cancelled')).toHaveLength(1)
    expect(receiver.received).toHaveLength(1)
  })

  it('loses nothing that waits if it is resumed twice', async () => {
    receiver.answerWith(status(500))
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint, { schedule: [2] })
    await send(endpoint, { body: '1' })
    await received(1)
    receiver.answerWith(status(200))
    await api('POST', `/${endpoint.id}/destinations/${id}/resume`, { waiting: 'drop' })
    expect(await deliveries(endpoint, 1, 'delivered')).toMatchObject([{ attempts: 2 }])
  })

  it('gets nothing more once it is paused, of what waits to be sent at once', async () => {
    receiver.answerWith((response) => void setTimeout(() => response.writeHead(204).end(), 500))
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint, { concurrency: 1 })
    for (let count = 0; count < 8; count++) await send(endpoint, { body: String(count) })
    await received(1)
    await api('POST', `/${endpoint.id}/destinations/${id}/pause`)
    const all = await deliveries(endpoint, 8, 'delivered', 'held')
    // Those that were on their way arrive.
    const delivered = all.filter(({ state }) => state === 'delivered').length
    expect(delivered).toBe(receiver.received.length)
    expect(delivered).toBeLessThan(8)
    receiver.answerWith(status(204))
    await api('POST', `/${endpoint.id}/destinations/${id}/resume`, {})
    await deliveries(endpoint, 8, 'delivered')
    expect(receiver.received.map(({ headers }) => headers['x-portreeve-repeat'])).toEqual(
      Array<string>(8).fill('no'),
    )
  })

  it('gets only what meets its conditions, and no preflights and rejected requests', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await addDestination(endpoint, { when: { 'body/type': 'paid' } })
    await send(endpoint, { body: '{"type":"open"}' })
    await portreeve.portreeve.request(`/webhooks/${endpoint.token}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://a.test', 'access-control-request-method': 'PUT' },
    })
    await send(endpoint, { body: '{"type":"paid"}' })
    expect(await deliveries(endpoint, 1, 'delivered')).toHaveLength(1)
    expect(receiver.received.map(({ body }) => body)).toEqual(['{"type":"paid"}'])
  })

  it('gets nothing that is truncated or goes in circles, which is listed', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await addDestination(endpoint)
    await send(endpoint, { body: Buffer.alloc(1024 * 1024 + 1, 'x') })
    await send(endpoint, { body: 'x', headers: { 'x-portreeve-hops': '3' } })
    expect(await deliveries(endpoint, 2, 'unsendable')).toHaveLength(2)
    expect(receiver.received).toEqual([])
  })

  it('is not sent again what comes back, under whatever address of this service', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseStatus: 500 })
    const url = `http://127.0.0.1:${new URL(portreeve.portreeve.wire).port}/webhooks/${endpoint.token}`
    await addDestination(endpoint, { url, schedule: [1] })
    await send(endpoint, { body: 'x' })
    const [first, ...others] = await deliveries(endpoint, 3, 'dead', 'unsendable')
    // Both attempts came back, and neither was forwarded once more.
    expect(first).toMatchObject({ state: 'dead', attempts: 2 })
    const back = { state: 'unsendable', error: expect.stringContaining('leads back here') }
    expect(others).toMatchObject([back, back])
    expect(await portreeve.captured(endpoint, 3)).toHaveLength(3)
    const path = `/${endpoint.id}/destinations/${first?.destinationId}/forward`
    const again = await api('POST', path, { requestId: others[0]?.requestId })
    expect([again.status, again.json.error]).toEqual([409, expect.stringContaining('leads back')])
  })

  it('holds only the key of a delivery that fails, where keys are ordered', async () => {
    receiver.answerWith((response, { body }) =>
      response.writeHead(body.includes('"fail"') ? 500 : 200).end(),
    )
    const endpoint = await portreeve.makeEndpoint()
    await addDestination(endpoint, { order: { mode: 'key', key: 'body/id' }, schedule: [60] })
    const bodies = [
      '{"id":"a","n":"fail"}',
      '{"id":"a","n":2}',
      '{"id":"b","n":3}',
      '{"id":"b","n":4}',
    ]
    for (const body of bodies) await send(endpoint, { body })
    const all = await until(
      async () => (await api('GET', `/${endpoint.id}/deliveries?state=delivered`)).json.deliveries,
      (some) => some.length === 2,
      30,
    )
    expect(all).toHaveLength(2)
    expect(receiver.received.map(({ body }) => body)).toEqual([bodies[0], bodies[2], bodies[3]])
  })

  it('is signed with both secrets for a day after a rotation', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const { id, secret } = await addDestination(endpoint)
    const { json } = await api('POST', `/${endpoint.id}/destinations/${id}/rotate-secret`)
    expect(json.secret).not.toBe(secret)
    await send(endpoint, { body: 'x' })
    const [request] = await received(1)
    const [[, name], [, time], [, signature]] = rawSignature(request as Received) as [
      [string, string],
      [string, string],
      [string, string],
    ]
    const expected = [json.secret, secret].map((one) => {
      const key = Buffer.from(one.replace('whsec_', ''), 'base64')
      return `v1,${createHmac('sha256', key).update(`${name}.${time}.x`).digest('base64')}`
    })
    expect(signature).toBe(expected.join(' '))
  })

  it('lists its deliveries page by page, newest first, also while others are added', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint)
    const other = await addDestination(endpoint, { when: { body: 'never' } })
    for (let count = 0; count < 5; count++) await send(endpoint, { body: String(count) })
    const all = await deliveries(endpoint, 5, 'delivered')
    const path = `/${endpoint.id}/deliveries?state=delivered&destination=${id}&limit=2`
    const seen: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const { json } = await api('GET', `${path}${cursor && `&cursor=${cursor}`}`)
      seen.push(...json.deliveries.map((one) => one.id))
      cursor = json.nextCursor
      if (seen.length === 2) await send(endpoint, { body: 'newer' })
    }
    expect(seen).toEqual(all.map((one) => one.id).toReversed())
    const none = `/${endpoint.id}/deliveries?destination=${other.id}`
    expect((await api('GET', none)).json).toMatchObject({ deliveries: [], nextCursor: null })
    const ofRequest = `/${endpoint.id}/deliveries?request=${all[0]?.requestId}`
    expect((await api('GET', ofRequest)).json.deliveries.map((one) => one.id)).toEqual([all[0]?.id])
    for (const cursor of ['0', 'x', '1e3', '99999999999999999'])
      expect((await api('GET', `${path}&cursor=${cursor}`)).status).toBe(400)
  })

  it('keeps requests that wait for it, beyond the limits of the endpoint', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const { id } = await addDestination(endpoint)
    await api('POST', `/${endpoint.id}/destinations/${id}/pause`)
    await send(endpoint, { body: 'waits' })
    await send(endpoint, { body: 'newest' })
    await deliveries(endpoint, 2, 'held')
    const all = [{ endpointId: endpoint.id, upTo: 0 }]
    expect(await deleteBeyond(database.db, all, 1, 100)).toMatchObject([
      { deleted: 0, compared: 1, firstPinned: expect.any(Number) },
    ])
    await api('POST', `/${endpoint.id}/destinations/${id}/resume`, { waiting: 'drop' })
    expect(await deleteBeyond(database.db, all, 1, 100)).toMatchObject([{ deleted: 1 }])
  })

  it.each([
    [{ url: 'ftp://127.0.0.1/x' }, 'url'],
    [{ url: 'http://user:secret@127.0.0.1/' }, 'url'],
    [{ url: 'http://127.0.0.1:25/' }, 'url'],
    [{ url: 'https://shop.example.com:65536/' }, 'url'],
    [{ url: 'http://169.254.169.254/latest' }, 'url'],
    [{ url: 'http://[::ffff:a00:1]/' }, 'url'],
    [{ url: 'http://10.0.0.1/' }, 'url'],
    [{ change: { patch: [{ op: 'remove', path: 'x' }] } }, 'change.patch.0.path'],
    [{ change: { patch: [{ op: 'move', path: '/x' }] } }, 'change.patch.0.from'],
    [{ change: { patch: [{ op: 'add', path: '/x' }] } }, 'change.patch.0.value'],
    [{ change: { patch: [{ op: 'add', path: '/x', value: 'x'.repeat(33_000) }] } }, 'change'],
    [{ order: { mode: 'key' } }, 'order.key'],
    [{ headers: [['Host', 'x']] }, 'headers.0'],
    [{ headers: [['webhook-signature', 'x']] }, 'headers.0'],
    [{ when: { nothing: 1 } }, 'when.nothing'],
  ])('is refused: %j', async (settings, path) => {
    const endpoint = await portreeve.makeEndpoint()
    const body = { url: `${receiver.origin}/in`, ...settings }
    const { status: code, json } = await api('POST', `/${endpoint.id}/destinations`, body)
    expect([code, json.details.map((detail) => detail.path)]).toEqual([400, [path]])
  })

  it('is never this service, nor a name that leads to a private address', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const own = await api('POST', `/${endpoint.id}/destinations`, { url: endpoint.url })
    expect([own.status, own.json.error]).toEqual([400, expect.stringContaining('this service')])
    await addDestination(endpoint, { url: 'https://localhost:8443/x', schedule: [60] })
    await send(endpoint, { body: 'x' })
    const [delivery] = await until(
      async () => (await api('GET', `/${endpoint.id}/deliveries`)).json.deliveries,
      ([one]) => one?.attempts === 1,
      30,
    )
    const { json } = await api('GET', `/${endpoint.id}/deliveries/${delivery?.id}`)
    expect(json.attempts).toHaveLength(1)
  })

  it('belongs to its workspace, up to ten of an endpoint', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const path = `/${endpoint.id}/destinations`
    for (let i = 0; i < 10; i++) await addDestination(endpoint)
    expect((await api('POST', path, { url: receiver.origin })).status).toBe(409)
    const { destinations } = (await api('GET', path)).json
    expect(destinations).toHaveLength(10)
    const [first] = destinations
    const asks = [
      ['GET', path],
      ['GET', `${path}/${first?.id}`],
      ['PUT', `${path}/${first?.id}`, { label: 'x' }],
      ['POST', `${path}/${first?.id}/pause`],
      ['DELETE', `${path}/${first?.id}`],
      ['GET', `/${endpoint.id}/deliveries`],
    ] as const
    for (const [method, at, body] of asks)
      expect([at, (await api(method, at, body, charlie.token)).status]).toEqual([at, 404])
    // A token that can only read cannot call the server of the destination with what it reads.
    const { alice } = portreeve
    const limits = { scopes: ['webhooks:read' as const] }
    const reader = await portreeve.portreeve.addToken(alice.id, alice.id, limits)
    await api('PUT', `${path}/${first?.id}`, { headers: [['Authorization', 'Bearer own']] })
    const seen = (await api('GET', `${path}/${first?.id}`, undefined, reader)).json.destination
    expect(seen).toMatchObject({ url: `${receiver.origin}/…`, headers: [['Authorization', '…']] })
    const { rows } = await database.pool.query<{ row: string }>(
      'select row_to_json(d)::text as row from webhook_destination d where id = $1',
      [first?.id],
    )
    expect(rows[0]?.row).not.toContain('/in')
  })
})

describe('a replay', () => {
  const done = async ({ id }: Endpoint, replayId: string) =>
    until(
      async () => (await api('GET', `/${id}/replays/${replayId}`)).json.replay,
      ({ state }) => state !== 'running',
      30,
    )

  async function start({ id }: Endpoint, given: object): Promise<Replay> {
    const { status: code, json } = await api('POST', `/${id}/replays`, given)
    expect([code, json.error]).toEqual([202, undefined])
    return json.replay
  }

  it('sends stored requests again, with their ids and new signatures', async () => {
    const endpoint = await portreeve.makeEndpoint()
    for (const body of ['1', '2', '3']) await send(endpoint, { body })
    await send(endpoint, { body: Buffer.alloc(1024 * 1024 + 1, 'x') })
    const [, third, , first] = await portreeve.captured(endpoint, 4)
    const { id: destination } = await addDestination(endpoint)
    const replay = await start(endpoint, { destination, filter: {}, perMinute: 60_000 })
    expect(replay).toMatchObject({ state: 'running', total: 4 })
    const all = await received(3)
    expect(all.map(({ body }) => body).toSorted()).toEqual(['1', '2', '3'])
    expect(new Set(all.map((one) => headerOf(one, 'x-portreeve-repeat')))).toEqual(
      new Set(['replay']),
    )
    // The truncated one cannot be sent.
    expect(await done(endpoint, replay.id)).toMatchObject({ state: 'done', compared: 4, queued: 3 })
    const requests = [first?.id, third?.id]
    const some = await start(endpoint, { destination, requests, perMinute: 60_000 })
    expect(await done(endpoint, some.id)).toMatchObject({ total: 2, compared: 2, queued: 2 })
    const again = (await received(5)).slice(3)
    expect(new Set(again.map((one) => headerOf(one, 'webhook-id')))).toEqual(
      new Set(requests.map((id) => `req_${id}`)),
    )
  })

  it('takes only what was not delivered, or meets conditions, where that is chosen', async () => {
    receiver.answerWith((response, { body }) =>
      response.writeHead(body.includes('fail') ? 500 : 200).end(),
    )
    const endpoint = await portreeve.makeEndpoint()
    const { id: destination } = await addDestination(endpoint, { finalStatuses: [500] })
    for (const name of ['fail 1', 'good', 'fail 2'])
      await send(endpoint, { body: JSON.stringify({ name }) })
    await deliveries(endpoint, 3, 'dead', 'delivered')
    receiver.answerWith(status(200))
    const filter = { states: ['dead'], when: { 'body/name': { $endsWith: '2' } } }
    const replay = await start(endpoint, { destination, filter, perMinute: 60_000 })
    expect(await done(endpoint, replay.id)).toMatchObject({ compared: 3, queued: 1 })
    const [, , , again] = await received(4)
    expect(again?.body).toBe('{"name":"fail 2"}')
    await deliveries(endpoint, 4, 'dead', 'delivered')
    // It is delivered now.
    const second = await start(endpoint, { destination, filter, perMinute: 60_000 })
    expect(await done(endpoint, second.id)).toMatchObject({ queued: 0 })
  })

  it('keeps its rate, and ends when it is cancelled', async () => {
    const endpoint = await portreeve.makeEndpoint()
    for (const body of ['1', '2', '3']) await send(endpoint, { body })
    await portreeve.captured(endpoint, 3)
    const { id: destination } = await addDestination(endpoint)
    const replay = await start(endpoint, { destination, filter: {}, perMinute: 1 })
    await received(1)
    const path = `/${endpoint.id}/replays/${replay.id}`
    expect((await api('DELETE', path)).json.replay).toMatchObject({ state: 'cancelled', queued: 1 })
    expect((await api('GET', `/${endpoint.id}/replays`)).json.replays).toHaveLength(1)
    expect(receiver.received).toHaveLength(1)
  })

  it('is refused without a choice, and for a destination of others', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const { id: destination } = await addDestination(endpoint)
    const path = `/${endpoint.id}/replays`
    expect((await api('POST', path, { destination })).status).toBe(400)
    const both = { destination, filter: {}, requests: [destination] }
    expect((await api('POST', path, both)).status).toBe(400)
    const wrong = { destination, filter: { when: { nothing: 1 } } }
    expect((await api('POST', path, wrong)).json.details.map((one) => one.path)).toEqual([
      'filter.when.nothing',
    ])
    const other = await portreeve.makeEndpoint()
    const foreign = await api('POST', `/${other.id}/replays`, { destination, filter: {} })
    expect(foreign.status).toBe(404)
    expect((await api('GET', path, undefined, charlie.token)).status).toBe(404)
  })
})
