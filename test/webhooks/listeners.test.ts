import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import type { Person } from '../service.ts'
import { startWebhooks, type Answer, type Endpoint, type WebhooksTest } from './module.ts'

type ListenerAnswer = Answer & {
  listener: { id: string; leaseSeconds: number }
  answer: { status: number; sent: boolean; body: string } | null
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
  const { status, json } = await portreeve.api(method, path, body, token)
  return { status, json: json as ListenerAnswer }
}

async function listen({ id }: Endpoint, holdSeconds = 20): Promise<string> {
  const { status, json } = await api('POST', `/${id}/listeners`, { holdSeconds })
  expect([status, json.listener.leaseSeconds]).toEqual([201, 15])
  return json.listener.id
}

const send = ({ token }: Endpoint, body = 'x') =>
  portreeve.portreeve.request(`/webhooks/${token}`, { method: 'POST', body })

/** Answers a request as a listener does. */
const answer = ({ id }: Endpoint, requestId: string | undefined, given: object) =>
  api('POST', `/${id}/requests/${requestId}/answer`, {
    status: 200,
    headers: [],
    bodyBase64: '',
    ...given,
  })

describe('a listener that answers', () => {
  it('gives the sender its status, headers and bytes, once', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseBody: 'configured' })
    const listener = await listen(endpoint)
    const sending = send(endpoint)
    const [request] = await portreeve.captured(endpoint)
    const bytes = Buffer.from([0, 255, 13, 10])
    const given = {
      listener,
      status: 418,
      headers: [
        ['Content-Type', 'application/octet-stream'],
        ['X-Local', 'yes'],
        ['Set-Cookie', 'a=b'],
        ['Content-Length', '999'],
        ['Date', 'x'],
      ],
      bodyBase64: bytes.toString('base64'),
    }
    expect((await answer(endpoint, request?.id, given)).status).toBe(201)
    const response = await sending
    expect([response.status, response.headers.get('x-local')]).toEqual([418, 'yes'])
    expect(response.headers.get('set-cookie')).toBeNull()
    expect(response.headers.get('content-security-policy')).toContain('sandbox')
    expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
    expect((await answer(endpoint, request?.id, given)).status).toBe(409)
    const path = `/${endpoint.id}/requests/${request?.id}`
    await expect
      .poll(async () => (await api('GET', path)).json)
      .toMatchObject({ request: { responseStatus: 418 }, answer: { status: 418, sent: true } })
  })

  it('is replaced by the configured response when its answer is late, which is shown', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseBody: 'configured' })
    const listener = await listen(endpoint, 1)
    const response = await send(endpoint)
    expect(response.headers.get('x-webhook-answer')).toBe('fallback')
    expect(await response.text()).toBe('configured')
    const [request] = await portreeve.captured(endpoint)
    expect((await answer(endpoint, request?.id, { listener, status: 201 })).status).toBe(201)
    const { json } = await api('GET', `/${endpoint.id}/requests/${request?.id}`)
    expect(json.answer).toMatchObject({ status: 201, sent: false })
    expect(json.request.responseStatus).toBe(200)
  })

  it('is one at a time, until its lease ends or it leaves', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseBody: 'configured' })
    const first = await listen(endpoint)
    expect((await api('POST', `/${endpoint.id}/listeners`, {})).status).toBe(409)
    expect((await api('POST', `/${endpoint.id}/listeners/${first}/renew`)).status).toBe(200)
    expect((await api('DELETE', `/${endpoint.id}/listeners/${first}`)).status).toBe(200)
    expect((await api('POST', `/${endpoint.id}/listeners/${first}/renew`)).status).toBe(409)
    // At once: nobody waits for a listener that has left.
    const response = await send(endpoint)
    expect([await response.text(), response.headers.get('x-webhook-answer')]).toEqual([
      'configured',
      null,
    ])
    const second = await listen(endpoint)
    await database.pool.query(
      'update webhook_listener set lease_until = now() where endpoint_id = $1',
      [endpoint.id],
    )
    expect((await api('POST', `/${endpoint.id}/listeners/${second}/renew`)).status).toBe(409)
    const third = await listen(endpoint)
    const [request] = await portreeve.captured(endpoint)
    expect((await answer(endpoint, request?.id, { listener: second })).status).toBe(409)
    expect((await answer(endpoint, request?.id, { listener: third })).status).toBe(201)
  })

  it('leaves requests alone that a rule answers, and preflights', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await api('POST', `/${endpoint.id}/rules`, {
      when: { 'body/type': 'ping' },
      answers: [{ status: 202 }],
    })
    await listen(endpoint)
    expect((await send(endpoint, '{"type":"ping"}')).status).toBe(202)
    const preflight = await portreeve.portreeve.request(`/webhooks/${endpoint.token}`, {
      method: 'OPTIONS',
      headers: { origin: 'https://a.test', 'access-control-request-method': 'PUT' },
    })
    expect(preflight.status).toBe(204)
  })

  it('keeps up to a hundred senders waiting', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const listener = await listen(endpoint)
    const all = Array.from({ length: 110 }, () => send(endpoint))
    const requests = await portreeve.captured(endpoint, 110)
    await Promise.all(requests.map(({ id }) => answer(endpoint, id, { listener, status: 202 })))
    const statuses = (await Promise.all(all)).map(({ status }) => status)
    expect(statuses.filter((status) => status === 202).length).toBeGreaterThanOrEqual(100)
    expect(new Set(statuses)).toEqual(new Set([200, 202]))
  })

  it('belongs to the workspace of its endpoint', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const path = `/${endpoint.id}/listeners`
    expect((await api('POST', path, {}, charlie.token)).status).toBe(404)
    const listener = await listen(endpoint)
    expect((await api('POST', `${path}/${listener}/renew`, undefined, charlie.token)).status).toBe(
      404,
    )
    expect((await api('DELETE', `${path}/${listener}`, undefined, charlie.token)).status).toBe(404)
    expect((await api('POST', path, { holdSeconds: 26 })).status).toBe(400)
  })
})
