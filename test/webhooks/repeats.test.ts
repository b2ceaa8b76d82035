import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { repeatKeyOf } from '../../src/webhooks/requests/repeat-key.ts'
import { until } from '../alerts/module.ts'
import { startReceiver, status, type Receiver } from '../servers/receiver.ts'
import { startWebhooks, type Endpoint, type WebhooksTest } from './module.ts'

let portreeve: WebhooksTest
let database: Database
let receiver: Receiver

beforeAll(async () => {
  portreeve = await startWebhooks()
  database = openDatabase(portreeve.portreeve.databaseUrl)
  receiver = await startReceiver(status(204))
})
afterAll(async () => {
  await receiver.close()
  await database.close()
  await portreeve.stop()
})

const send = ({ token }: Endpoint, headers: Record<string, string>, body = 'x') =>
  portreeve.portreeve.request(`/webhooks/${token}`, { method: 'POST', headers, body })

/** The captured requests of an endpoint, oldest first. */
const captured = async (endpoint: Endpoint, count: number) =>
  (await portreeve.captured(endpoint, count)).toReversed()

describe('a repeated request', () => {
  it.each([
    'webhook-id',
    'Svix-Id',
    'X-GitHub-Delivery',
    'X-Shopify-Webhook-Id',
    'Idempotency-Key',
    'X-Portreeve-Request',
  ])('names the first one with the same %s', async (header) => {
    const endpoint = await portreeve.makeEndpoint()
    for (const id of ['a', 'b', 'a', 'a']) await send(endpoint, { [header]: id })
    const [first, other, second, third] = await captured(endpoint, 4)
    expect([first?.repeatOf, other?.repeatOf]).toEqual([null, null])
    expect([second?.repeatOf, third?.repeatOf]).toEqual([first?.id, first?.id])
    const { json } = await portreeve.api('GET', `/${endpoint.id}/requests/${second?.id}`)
    expect(json.request.repeatOf).toBe(first?.id)
  })

  it('is recognized by a field that the endpoint chooses, and by nothing else then', async () => {
    const endpoint = await portreeve.makeEndpoint({ repeatKey: 'body/id' })
    await send(endpoint, { 'webhook-id': 'a' }, '{"id": 12345678901234567890}')
    await send(endpoint, { 'webhook-id': 'a' }, '{"id": 12345678901234567891}')
    await send(endpoint, { 'webhook-id': 'b' }, '{"id": 12345678901234567890}')
    const [first, second, third] = await captured(endpoint, 3)
    expect([first?.repeatOf, second?.repeatOf, third?.repeatOf]).toEqual([null, null, first?.id])
    const wrong = await portreeve.api('PUT', `/${endpoint.id}`, { repeatKey: 'nothing' })
    expect([wrong.status, wrong.json.details[0]?.path]).toEqual([400, 'repeatKey'])
  })

  it('is none of another endpoint, without an id, or after the requests were deleted', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const other = await portreeve.makeEndpoint()
    await send(endpoint, { 'webhook-id': 'a' })
    await send(other, { 'webhook-id': 'a' })
    await send(other, {})
    await send(other, {})
    expect((await captured(other, 3)).map(({ repeatOf }) => repeatOf)).toEqual([null, null, null])
    await portreeve.api('DELETE', `/${endpoint.id}/requests`)
    await send(endpoint, { 'webhook-id': 'a' })
    expect(await captured(endpoint, 1)).toMatchObject([{ repeatOf: null }])
  })

  it('is none after a day, and becomes the first of another', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await send(endpoint, { 'webhook-id': 'a' })
    await database.pool.query(
      `update webhook_repeat set at = now() - interval '25 hours' where endpoint_id = $1`,
      [endpoint.id],
    )
    await send(endpoint, { 'webhook-id': 'a' })
    await send(endpoint, { 'webhook-id': 'a' })
    const [, second, third] = await captured(endpoint, 3)
    expect([second?.repeatOf, third?.repeatOf]).toEqual([null, second?.id])
  })

  it('is found among many senders at once, whatever shares a commit', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const ids = Array.from({ length: 40 }, (_, index) => String(index % 8))
    await Promise.all(ids.map((id) => send(endpoint, { 'webhook-id': id }, id)))
    const all = await captured(endpoint, 40)
    const firsts = all.filter(({ repeatOf }) => repeatOf === null)
    expect(firsts.map(({ body }) => body).toSorted()).toEqual('0 1 2 3 4 5 6 7'.split(' '))
    const byBody = new Map(firsts.map(({ body, id }) => [body, id]))
    for (const { body, repeatOf } of all)
      if (repeatOf !== null) expect(repeatOf).toBe(byBody.get(body))
  })

  it('is left out by a destination that wants none, where that is visible', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const add = async (settings: object) => {
      const body = { url: receiver.origin, ...settings }
      const { status: code } = await portreeve.api('POST', `/${endpoint.id}/destinations`, body)
      expect(code).toBe(201)
    }
    await add({ url: `${receiver.origin}/once`, skipRepeats: true })
    await add({ url: `${receiver.origin}/all` })
    for (const id of ['a', 'a', 'b']) await send(endpoint, { 'webhook-id': id })
    await send(endpoint, {})
    const paths = await until(
      () => receiver.received.map(({ path }) => path).toSorted(),
      (all) => all.length === 7,
      30,
    )
    expect(paths).toEqual([...Array<string>(4).fill('/all'), ...Array<string>(3).fill('/once')])
    const { json } = await portreeve.api('GET', `/${endpoint.id}/deliveries?state=cancelled`)
    expect(json).toMatchObject({
      deliveries: [{ state: 'cancelled', error: expect.stringContaining('repeats an earlier') }],
    })
  })
})

describe('the key of a request', () => {
  const request = (headers: [string, string][], body = '') => ({
    method: 'POST',
    path: '',
    query: '',
    headers,
    body: Buffer.from(body),
    ip: '192.0.2.1',
  })

  it('tells ids of two kinds apart, and is short whatever the sender chooses', () => {
    const long = 'x'.repeat(16_000)
    const keys = [
      repeatKeyOf(request([['webhook-id', 'a']]), null),
      repeatKeyOf(request([['idempotency-key', 'a']]), null),
      repeatKeyOf(request([['webhook-id', long]]), null),
      repeatKeyOf(request([], '{"id":"a"}'), 'body/id'),
    ]
    expect(new Set(keys).size).toBe(4)
    for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/)
  })

  it('is none where the value is missing, empty or not a scalar', () => {
    expect(repeatKeyOf(request([['webhook-id', ' ']]), null)).toBeNull()
    expect(repeatKeyOf(request([], '{"id":{}}'), 'body/id')).toBeNull()
    expect(repeatKeyOf(request([], 'not json'), 'body/id')).toBeNull()
  })
})
