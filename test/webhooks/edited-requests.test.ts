import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Static } from 'typebox'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { parseEdit, requestToSend } from '../../src/webhooks/forwarding/edit-request.ts'
import type { Header } from '../../src/webhooks/headers.ts'
import type { RequestRow } from '../../src/webhooks/requests/captured-request.ts'
import type {
  ForwardPreview,
  RequestEdit,
  WebhookDelivery,
  WebhookDestination,
} from '../../src/webhooks/forwarding/shapes.ts'
import { until } from '../alerts/module.ts'
import { startReceiver, status, type Receiver } from '../servers/receiver.ts'
import type { Person } from '../service.ts'
import { startWebhooks, type Answer, type Endpoint, type WebhooksTest } from './module.ts'

type EditAnswer = Answer &
  Static<typeof ForwardPreview> & {
    destination: WebhookDestination
    delivery: Static<typeof WebhookDelivery>
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
  return { status: answer.status, json: answer.json as unknown as EditAnswer }
}

/** An endpoint with a captured request, and a destination that got nothing of it. */
async function prepare(settings: object = {}) {
  const endpoint = await portreeve.makeEndpoint()
  await portreeve.portreeve.request(`/webhooks/${endpoint.token}/orders?page=1`, {
    method: 'POST',
    body: '{"order": 1, "secret": "x"}',
    headers: { 'content-type': 'application/json', 'x-event': 'paid' },
  })
  const [request] = await portreeve.captured(endpoint)
  const body = { url: `${receiver.origin}/in`, schedule: [1, 1], ...settings }
  const { json } = await api('POST', `/${endpoint.id}/destinations`, body)
  const path = `/${endpoint.id}/destinations/${json.destination.id}`
  return { endpoint, path, requestId: request?.id ?? '' }
}

async function delivered({ id }: Endpoint, deliveryId: string) {
  const read = async () => (await api('GET', `/${id}/deliveries/${deliveryId}`)).json.delivery
  return until(read, ({ state }) => state === 'delivered', 30)
}

describe('a request that is edited before it is sent', () => {
  it('arrives as it was edited, marked, with an id of its own, and the captured one stays', async () => {
    const { endpoint, path, requestId } = await prepare()
    const edit = {
      method: 'PUT',
      path: '/carts',
      query: 'page=2',
      headers: [
        ['Content-Type', 'application/json'],
        ['X-Event', 'refunded'],
        ['X-Event', 'twice'],
        ['Connection', 'close'],
      ],
      body: '{"order": 2}',
    }
    const { status: code, json } = await api('POST', `${path}/forward`, { requestId, edit })
    expect([code, json.error]).toEqual([202, undefined])
    expect(json.delivery).toMatchObject({ edited: true, requestId })
    expect(await delivered(endpoint, json.delivery.id)).toMatchObject({ edited: true })
    const [request] = receiver.received
    expect([request?.method, request?.path, request?.body]).toEqual([
      'PUT',
      '/in/carts?page=2',
      '{"order": 2}',
    ])
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'content-length': '12',
      'x-event': 'refunded, twice',
      'x-portreeve-edited': '1',
      'x-portreeve-request': requestId,
      'webhook-id': `edit_${json.delivery.id}`,
    })
    const [captured] = await portreeve.captured(endpoint)
    expect(captured).toMatchObject({ method: 'POST', path: '/orders', query: 'page=1' })
  })

  it('keeps what was not edited, byte for byte, and its edit over retries', async () => {
    const { endpoint, path, requestId } = await prepare()
    receiver.answerWith(status(500))
    const edit = { body: Buffer.from([0, 255, 10]).toString('base64'), bodyEncoding: 'base64' }
    const { json } = await api('POST', `${path}/forward`, { requestId, edit })
    await until(
      () => receiver.received,
      (all) => all.length === 1,
      30,
    )
    receiver.answerWith(status(204))
    await delivered(endpoint, json.delivery.id)
    const [first, second] = receiver.received
    expect(first?.bytes).toEqual(Buffer.from([0, 255, 10]))
    expect(second?.bytes).toEqual(first?.bytes)
    expect(second?.headers['webhook-id']).toBe(first?.headers['webhook-id'])
    expect(second?.headers['x-portreeve-repeat']).toBe('retry')
    expect([second?.method, second?.path]).toEqual(['POST', '/in/orders?page=1'])
    expect(second?.headers['x-event']).toBe('paid')
  })

  it('is not marked where it is sent as captured', async () => {
    const { endpoint, path, requestId } = await prepare()
    const { json } = await api('POST', `${path}/forward`, { requestId })
    expect(await delivered(endpoint, json.delivery.id)).toMatchObject({ edited: false })
    const [request] = receiver.received
    expect(request?.headers['x-portreeve-edited']).toBeUndefined()
    expect(request?.headers['webhook-id']).toBe(`req_${requestId}`)
  })

  it.each([
    [{ method: 'CONNECT' }],
    [{ path: 'orders' }],
    [{ path: '/a b' }],
    [{ query: 'a#b' }],
    [{ headers: [['Bad name', 'x']] }],
    [{ headers: [['X-Bad', 'a\r\nX-Other: b']] }],
    [{ body: 'no base64!', bodyEncoding: 'base64' }],
    [{ body: 'x'.repeat(256 * 1024 + 1) }],
  ])('is refused: %j', async (edit) => {
    const { path, requestId } = await prepare()
    for (const action of ['forward', 'preview']) {
      const { json } = await api('POST', `${path}/${action}`, { requestId, edit })
      expect(json.code).toBe('invalid_request')
    }
    expect(receiver.received).toEqual([])
  })

  it('is kept for the last 20 of an endpoint, and no further one waits', async () => {
    const { endpoint, path, requestId } = await prepare()
    await api('POST', `${path}/pause`)
    const forward = () => api('POST', `${path}/forward`, { requestId, edit: { body: 'x' } })
    for (let count = 0; count < 20; count++) expect((await forward()).status).toBe(202)
    expect((await forward()).json.code).toBe('conflict')
    await database.pool.query(
      `update webhook_delivery set state = 'cancelled', ended_at = now() where endpoint_id = $1`,
      [endpoint.id],
    )
    const { json } = await forward()
    const { rows } = await database.pool.query('select from webhook_edit where endpoint_id = $1', [
      endpoint.id,
    ])
    expect(rows).toHaveLength(20)
    expect(json.delivery.edited).toBe(true)
  })
})

describe('the preview of a destination', () => {
  it('shows what would be sent after its change, without secrets, and sends nothing', async () => {
    const { path, requestId } = await prepare({
      headers: [['Authorization', 'Bearer own']],
      when: { 'body/order': 1 },
      change: { path: '/new', patch: [{ op: 'remove', path: '/secret' }] },
    })
    const { json } = await api('POST', `${path}/preview`, { requestId })
    expect(json).toMatchObject({ matches: true, error: null })
    expect(json.request).toMatchObject({
      method: 'POST',
      url: `${receiver.origin}/in/new?page=1`,
      body: '{"order":1}',
      bodyEncoding: 'utf8',
    })
    const headers = new Map(
      json.request?.headers.map(([name, value]) => [name.toLowerCase(), value]),
    )
    expect(headers.get('authorization')).toBe('…')
    expect(headers.get('webhook-signature')).toBe('…')
    expect(headers.get('x-event')).toBe('paid')
    expect(headers.get('content-length')).toBe('11')
    expect(JSON.stringify(json)).not.toContain('Bearer own')
    const edited = await api('POST', `${path}/preview`, {
      requestId,
      edit: { body: '{"order": 2}' },
    })
    // A change of what is not there fits no body.
    expect(edited.json).toMatchObject({ request: null, error: expect.stringContaining('/secret') })
    expect(receiver.received).toEqual([])
  })

  it('says where conditions are not met, and is for nobody else', async () => {
    const { path, requestId } = await prepare({ when: { method: 'PUT' } })
    expect((await api('POST', `${path}/preview`, { requestId })).json.matches).toBe(false)
    const other = await api('POST', `${path}/preview`, { requestId }, charlie.token)
    expect(other.status).toBe(404)
    const missing = '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11'
    expect((await api('POST', `${path}/preview`, { requestId: missing })).status).toBe(404)
  })
})

describe('an edited body', () => {
  it('has no digest of the captured one', () => {
    const headers: Header[] = [
      ['Content-Digest', 'sha-256=:x:'],
      ['X-Event', 'paid'],
    ]
    const captured = { method: 'POST', path: '', query: '', headers, body: Buffer.from('a') }
    const sent = (edit: RequestEdit) =>
      requestToSend(captured as unknown as RequestRow, parseEdit(edit)).headers
    expect(sent({ body: 'b' })).toEqual([['X-Event', 'paid']])
    expect(sent({ path: '/b' })).toEqual(headers)
  })
})
