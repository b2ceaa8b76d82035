import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Static } from 'typebox'
import { openDatabase, type Database } from '../../src/store/database.ts'
import type { SharedRequest, WebhookShare } from '../../src/webhooks/shares/shapes.ts'
import type { Person } from '../service.ts'
import { startWebhooks, type Answer, type Endpoint, type WebhooksTest } from './module.ts'

type ShareAnswer = Answer & {
  share: Static<typeof WebhookShare>
  shares: Static<typeof WebhookShare>[]
}

let portreeve: WebhooksTest
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

async function api(method: string, path: string, body?: object, token?: string) {
  const answer = await portreeve.api(method, path, body, token)
  return { status: answer.status, json: answer.json as ShareAnswer }
}

/** What everyone who has the link gets. */
async function read(url: string) {
  const token = url.split('/').at(-1)
  const answer = await portreeve.portreeve.request(`/api/v1/shared-webhook-requests/${token}`)
  const json = (await answer.json()) as { data: Static<typeof SharedRequest>; code: string }
  return { status: answer.status, headers: answer.headers, json }
}

/** A captured request with secrets in every place. */
async function capture(endpoint: Endpoint) {
  await portreeve.portreeve.request(
    `/webhooks/${endpoint.token}/orders?page=2&access_token=abc123&api%5Fkey=def456&flag`,
    {
      method: 'POST',
      body: '{"order": 1}',
      headers: {
        'content-type': 'application/json',
        authorization: 'Bearer abc123',
        cookie: 'id=abc123',
        'x-api-key': 'abc123',
        'x-hub-signature-256': 'sha256=abc123',
        'webhook-signature': 'v1,abc123',
        'x-shop-token': 'abc123',
        'x-forwarded-for': '192.0.2.4',
        'x-event': 'order.paid',
      },
    },
  )
  const [request] = await portreeve.captured(endpoint)
  if (!request) throw new Error('nothing was captured')
  return request
}

async function share(endpoint: Endpoint, requestId: string, body: object = {}) {
  const { status, json } = await api('POST', `/${endpoint.id}/requests/${requestId}/shares`, body)
  expect([status, json.error]).toEqual([201, undefined])
  return json.share
}

describe('a captured request that is shared by a link', () => {
  it('is shown to everyone without its secrets, its client and its body', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const request = await capture(endpoint)
    const { url } = await share(endpoint, request.id)
    const { status, headers, json } = await read(url)
    expect(status).toBe(200)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-robots-tag')).toBe('noindex')
    const { data } = json
    expect(data).toMatchObject({ method: 'POST', path: '/orders', body: null, bodySize: 12 })
    expect(data.query).toBe('page=2&access_token=…&api%5Fkey=…&flag')
    const text = JSON.stringify(data)
    expect(data).not.toHaveProperty('ip')
    for (const secret of ['abc123', 'def456', '192.0.2.4', 'order"'])
      expect(text).not.toContain(secret)
    expect(data.headers).toContainEqual(['x-event', 'order.paid'])
    expect(data.redacted).toEqual(
      expect.arrayContaining([
        'authorization',
        'cookie',
        'x-api-key',
        'x-hub-signature-256',
        'webhook-signature',
        'x-shop-token',
        'x-forwarded-for',
        'access_token',
        'api%5Fkey',
      ]),
    )
  })

  it('shows its body where its owner chose so', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const request = await capture(endpoint)
    const { url, body } = await share(endpoint, request.id, { body: true })
    expect(body).toBe(true)
    expect((await read(url)).json.data.body).toBe('{"order": 1}')
  })

  it('is listed, and gone once its link has ended, expired, or its request was deleted', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const request = await capture(endpoint)
    const [ended, expired, orphan] = [
      await share(endpoint, request.id),
      await share(endpoint, request.id, { days: 1 }),
      await share(endpoint, request.id, { days: 30 }),
    ]
    const listed = (await api('GET', `/${endpoint.id}/shares`)).json.shares
    expect(listed.map(({ id }) => id)).toEqual([orphan.id, expired.id, ended.id])
    const days = listed.map(
      (one) => (Date.parse(one.expiresAt) - Date.parse(one.createdAt)) / 864e5,
    )
    expect(days.map(Math.round)).toEqual([30, 1, 7])
    expect((await api('DELETE', `/${endpoint.id}/shares/${ended.id}`)).status).toBe(200)
    expect((await read(ended.url)).status).toBe(404)
    expect((await api('DELETE', `/${endpoint.id}/shares/${ended.id}`)).status).toBe(404)
    await database.pool.query('update webhook_share set expires_at = now() where id = $1', [
      expired.id,
    ])
    expect((await read(expired.url)).status).toBe(404)
    expect((await read(orphan.url)).status).toBe(200)
    await api('DELETE', `/${endpoint.id}/requests`)
    expect((await read(orphan.url)).status).toBe(404)
  })

  it('has up to 20 links of an endpoint', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const request = await capture(endpoint)
    for (let count = 0; count < 20; count++) await share(endpoint, request.id)
    const path = `/${endpoint.id}/requests/${request.id}/shares`
    expect((await api('POST', path, {})).json.code).toBe('conflict')
  })

  it('is shared by nobody but its workspace', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const request = await capture(endpoint)
    const { id } = await share(endpoint, request.id)
    const calls = [
      ['POST', `/${endpoint.id}/requests/${request.id}/shares`],
      ['GET', `/${endpoint.id}/shares`],
      ['DELETE', `/${endpoint.id}/shares/${id}`],
    ] as const
    for (const [method, path] of calls) {
      const body = method === 'POST' ? {} : undefined
      expect((await api(method, path, body, charlie.token)).status, path).toBe(404)
    }
    const other = '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11'
    expect((await api('POST', `/${endpoint.id}/requests/${other}/shares`, {})).status).toBe(404)
  })
})
