import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase, type Database } from '../../src/store/database.ts'
import { encrypt } from '../../src/store/encryption.ts'
import { insertEndpoint } from '../../src/webhooks/endpoints/endpoints.sql.ts'
import { CAPTURE_QUOTAS } from '../../src/webhooks/retention/capture-quota.ts'
import { webhookCleanUpJob } from '../../src/webhooks/retention/capture-retention.ts'
import { newEndpointToken } from '../../src/webhooks/endpoint-token.ts'
import type { Person } from '../service.ts'
import { startWebhooks, type Answer, type Endpoint, type WebhooksTest } from './module.ts'
import { jobContext } from '../jobs/context.ts'

let portreeve: WebhooksTest
let database: Database
let bob: Person
let charlie: Person

beforeAll(async () => {
  portreeve = await startWebhooks()
  database = openDatabase(portreeve.portreeve.databaseUrl)
  bob = await portreeve.portreeve.addPerson('Bob')
  charlie = await portreeve.portreeve.addPerson('Charlie')
})
afterAll(async () => {
  await database.close()
  await portreeve.stop()
})

const send = ({ token }: Endpoint, rest = '', init: RequestInit = {}) =>
  portreeve.portreeve.request(`/webhooks/${token}${rest}`, init)
const sendMany = async (endpoint: Endpoint, count: number) => {
  for (let i = 1; i <= count; i++) await send(endpoint, `/${i}`)
}
const paths = async (endpoint: Endpoint, query: string) => {
  const { status, json } = await portreeve.api('GET', `/${endpoint.id}/requests?${query}`)
  expect(status, JSON.stringify(json)).toBe(200)
  return json.requests.map(({ path }) => path)
}

describe('an endpoint', () => {
  it('is made with nothing but a request, and has the documented fields', async () => {
    const answer = await portreeve.portreeve.request('/api/webhook/endpoints', {
      method: 'POST',
      token: portreeve.alice.token,
    })
    expect(answer.status).toBe(201)
    const { success, endpoint } = (await answer.json()) as { success: true; endpoint: Endpoint }
    expect(success).toBe(true)
    expect(endpoint).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      token: expect.stringMatching(/^[A-Za-z0-9]{10}$/),
      url: expect.stringContaining(`/webhooks/${endpoint.token}`),
      name: null,
      namedUrl: null,
      responseHeaders: [],
      label: '',
      responseStatus: 200,
      responseBody: '',
      responseType: 'text/plain; charset=utf-8',
      template: false,
      cors: true,
      timeout: 0,
      repeatKey: null,
      receivesEmail: false,
      emailAddress: null,
      requestCount: 0,
      signature: null,
      alerts: { calledEveryMinutes: null, badSignature: false, silentAfterMinutes: null },
      labels: [],
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    })
  })

  it('keeps its owner and its URL, whatever a request contains', async () => {
    const wishes = {
      id: bob.id,
      workspaceId: bob.id,
      token: 'chosen0000',
      requestCount: 7,
      signatureSecret: 'x',
      nothing: 1,
    }
    const made = await portreeve.api('POST', '', wishes)
    expect(made.status).toBe(201)
    const { endpoint } = made.json
    const changed = await portreeve.api('PUT', `/${endpoint.id}`, wishes)
    expect(changed.json.endpoint).toEqual(endpoint)
    expect(endpoint).toMatchObject({ requestCount: 0, signature: null })
    expect([endpoint.id, endpoint.token]).not.toContain('chosen0000')
    const { rows } = await database.pool.query(
      'select workspace_id from webhook_endpoint where id = $1',
      [endpoint.id],
    )
    expect(rows).toEqual([{ workspace_id: portreeve.alice.id }])
  })

  it('changes only the given settings', async () => {
    const endpoint = await portreeve.makeEndpoint({ label: 'before', responseBody: 'kept' })
    const change = { label: 'after', responseStatus: 202, timeout: 0.5, cors: false }
    const { status, json } = await portreeve.api('PUT', `/${endpoint.id}`, change)
    expect([status, json.endpoint]).toEqual([200, { ...endpoint, ...change }])
    expect((await portreeve.api('PUT', `/${endpoint.id}`, {})).json.endpoint).toEqual(json.endpoint)
    expect((await portreeve.api('GET', `/${endpoint.id}`)).json.endpoint).toEqual(json.endpoint)
  })

  it('keeps the shortest possible timeout', async () => {
    const { status, json } = await portreeve.api('POST', '', { timeout: Number.MIN_VALUE })
    expect([status, json.endpoint.timeout]).toEqual([201, Number.MIN_VALUE])
  })

  it.each([
    [{ timeout: 31 }, 'timeout', 'seconds (0-30)'],
    [{ timeout: 5_000 }, 'timeout', 'seconds'],
    [{ timeout: -1 }, 'timeout', 'seconds'],
    [{ timeout: '5' }, 'timeout', 'number'],
    [{ responseStatus: 199 }, 'responseStatus', '200'],
    [{ responseStatus: 600 }, 'responseStatus', '599'],
    [{ responseType: 'text/html\r\nSet-Cookie: a=b' }, 'responseType', 'media type'],
    [{ responseType: 'html' }, 'responseType', 'media type'],
    [{ responseBody: 'é'.repeat(32_769) }, 'responseBody', '65536'],
    [{ responseBody: 'a\0b' }, 'responseBody', 'NUL'],
    [{ label: 'x'.repeat(101) }, 'label', '100'],
    [{ signature: { scheme: 'rot13', secret: 'x' } }, 'signature.scheme', 'github'],
    [{ signature: { scheme: 'github' } }, 'signature.secret', 'required'],
    [{ signature: { scheme: 'hmac', secret: 'x' } }, 'signature.header', 'required'],
  ])('refuses %j and says what is wrong', async (change, path, word) => {
    const endpoint = await portreeve.makeEndpoint()
    const { status, json } = await portreeve.api('PUT', `/${endpoint.id}`, change)
    expect([status, json.code]).toEqual([400, 'invalid_request'])
    expect(json.details.map((detail) => detail.path)).toContain(path)
    expect(json.error + JSON.stringify(json.details)).toContain(word)
  })

  it('shows the latest count, which continues beyond the stored requests and restarts when cleared', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await sendMany(endpoint, 3)
    const count = async () =>
      (await portreeve.api('GET', `/${endpoint.id}`)).json.endpoint.requestCount
    expect(await count()).toBe(3)
    const { status, json } = await portreeve.api('DELETE', `/${endpoint.id}/requests`)
    expect([status, json]).toEqual([200, { success: true, deleted: 3 }])
    expect([await count(), await portreeve.captured(endpoint, 0)]).toEqual([0, []])
    await send(endpoint)
    expect(await count()).toBe(1)
  })

  it('is deleted with its requests', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await sendMany(endpoint, 2)
    expect((await portreeve.api('DELETE', `/${endpoint.id}`)).json).toEqual({ success: true })
    expect((await portreeve.api('GET', `/${endpoint.id}/requests`)).status).toBe(404)
    const { rowCount } = await database.pool.query(
      'select from webhook_request where endpoint_id = $1',
      [endpoint.id],
    )
    expect(rowCount).toBe(0)
  })

  it('is one of at most a hundred', async () => {
    const dora = await portreeve.portreeve.addPerson('Dora')
    for (let i = 0; i < 98; i++)
      await insertEndpoint(database.db, { workspaceId: dora.id, token: newEndpointToken() })
    const more = await Promise.all(
      Array.from({ length: 4 }, () => portreeve.api('POST', '', {}, dora.token)),
    )
    expect(more.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 201, 409, 409])
    expect(more.find(({ status }) => status === 409)?.json).toMatchObject({ code: 'conflict' })
  })
})

describe('another account', () => {
  it('cannot see or change the endpoint', async () => {
    const endpoint = await portreeve.makeEndpoint({ label: 'Alice’s' })
    await send(endpoint)
    const [request] = await portreeve.captured(endpoint)
    const one = `/${endpoint.id}`
    const attempts: [string, string, object?][] = [
      ['GET', one],
      ['PUT', one, { responseBody: 'mine now' }],
      ['DELETE', one],
      ['GET', `${one}/requests`],
      ['DELETE', `${one}/requests`],
      ['GET', `${one}/requests/${request?.id}`],
      ['GET', `${one}/requests/${request?.id}/body`],
      ['GET', `${one}/events`],
    ]
    const bobs = (await portreeve.api('POST', '', { label: 'Bob’s' }, bob.token)).json.endpoint
    for (const [method, path, body] of attempts) {
      for (const person of [bob, charlie]) {
        const { status, json } = await portreeve.api(method, path, body, person.token)
        expect([method, path, status, json.code]).toEqual([method, path, 404, 'not_found'])
      }
      const { status, json } = await portreeve.api(method, path, body, '')
      expect([method, path, status, json.code]).toEqual([method, path, 401, 'unauthenticated'])
    }
    // Bob's own endpoint does not open Alice's request either.
    expect(
      (await portreeve.api('GET', `/${bobs.id}/requests/${request?.id}`, undefined, bob.token))
        .status,
    ).toBe(404)
    expect(
      (await portreeve.api('GET', '', undefined, bob.token)).json.endpoints.map(({ id }) => id),
    ).toEqual([bobs.id])
    expect((await portreeve.api('GET', '', undefined, charlie.token)).json.endpoints).toEqual([])
    expect(await portreeve.captured(endpoint)).toHaveLength(1)
    expect((await portreeve.api('GET', one)).json.endpoint.label).toBe('Alice’s')
  })
})

describe('a signed-in user', () => {
  it('manages endpoints with the session cookie, only from the dashboard’s origin', async () => {
    const { email, password } = charlie
    const origin = { origin: portreeve.portreeve.url, 'content-type': 'application/json' }
    const signIn = { method: 'POST', headers: origin, body: JSON.stringify({ email, password }) }
    const cookie =
      (
        await portreeve.portreeve.request('/api/auth/sign-in/email', signIn)
      ).headers.getSetCookie()[0] ?? ''
    const ask = async (method: string, path: string, headers: object, body?: object) => {
      const init = {
        method,
        headers: { cookie, ...headers },
        ...(body && { body: JSON.stringify(body) }),
      }
      const answer = await portreeve.portreeve.request(`/api/webhook/endpoints${path}`, init)
      return { status: answer.status, json: (await answer.json()) as Answer }
    }
    expect(
      (await ask('POST', '', { ...origin, origin: 'https://elsewhere.test' }, {})).status,
    ).toBe(403)
    const { status, json } = await ask('POST', '', origin, { label: 'by cookie' })
    expect([status, json.endpoint.label]).toEqual([201, 'by cookie'])
    const one = `/${json.endpoint.id}`
    expect((await ask('PUT', one, origin, { cors: false })).json.endpoint.cors).toBe(false)
    expect((await ask('GET', `${one}/requests`, {})).json).toMatchObject({
      success: true,
      requests: [],
      hasMore: false,
    })
    expect((await ask('DELETE', `${one}/requests`, origin)).json).toEqual({
      success: true,
      deleted: 0,
    })
    expect((await ask('DELETE', one, origin)).json).toEqual({ success: true })
    expect((await ask('GET', '', {})).json.endpoints).toEqual([])
  })
})

describe('the list of requests', () => {
  it('is read page by page, newest first, without gap or repetition', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await sendMany(endpoint, 7)
    const seen: string[] = []
    for (let cursor = ''; ;) {
      const { json } = await portreeve.api('GET', `/${endpoint.id}/requests?limit=3${cursor}`)
      seen.push(...json.requests.map(({ path }) => path))
      // Requests that arrive meanwhile are newer than the cursor.
      await send(endpoint, '/late')
      expect(json.hasMore).toBe(json.nextCursor !== null)
      if (json.nextCursor === null) break
      cursor = `&cursor=${json.nextCursor}`
    }
    expect(seen).toEqual(['/7', '/6', '/5', '/4', '/3', '/2', '/1'])
  })

  it('can be followed oldest first with a cursor that never ends', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await sendMany(endpoint, 2)
    const first = (await portreeve.api('GET', `/${endpoint.id}/requests?order=asc`)).json
    expect([first.requests.length, first.hasMore]).toEqual([2, false])
    const next = () =>
      portreeve.api('GET', `/${endpoint.id}/requests?order=asc&cursor=${first.nextCursor}`)
    expect((await next()).json).toMatchObject({
      requests: [],
      hasMore: false,
      nextCursor: first.nextCursor,
    })
    await send(endpoint, '/new')
    expect((await next()).json.requests.map(({ path }) => path)).toEqual(['/new'])
  })

  it('begins strictly after `since`', async () => {
    const endpoint = await portreeve.makeEndpoint()
    for (const path of ['/a', '/b', '/c']) {
      await send(endpoint, path)
      // Each a millisecond before the next: two of them may arrive within one.
      await database.pool.query(
        `update webhook_request set received_at = received_at - interval '1 millisecond' where endpoint_id = $1`,
        [endpoint.id],
      )
    }
    const [, second] = await portreeve.captured(endpoint, 3)
    expect(await paths(endpoint, `since=${second?.receivedAt}`)).toEqual(['/c'])
    expect(await paths(endpoint, `until=${second?.receivedAt}`)).toEqual(['/b', '/a'])
  })

  it('can be searched in path, query, header values and body, whatever the letters’ case', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await send(endpoint, '/Orders/1?kind=Refund')
    await send(endpoint, '/b', {
      method: 'POST',
      body: '{"name":"Zoë \\\\ x"}',
      headers: { 'x-topic': 'carts/Update' },
    })
    await send(endpoint, '/c', { method: 'PUT', body: Buffer.from([0, 255, 1, 65, 66, 67]) })
    const q = (text: string) => paths(endpoint, `q=${encodeURIComponent(text)}`)
    expect(await q('orders')).toEqual(['/Orders/1'])
    expect(await q('REFUND')).toEqual(['/Orders/1'])
    expect(await q('CARTS/update')).toEqual(['/b'])
    expect(await q('"Zoë \\\\')).toEqual(['/b'])
    expect(await q('abc')).toEqual(['/c'])
    expect(await q('%')).toEqual([])
    expect(await paths(endpoint, 'method=PUT')).toEqual(['/c'])
    expect(await paths(endpoint, 'path=/Ord')).toEqual(['/Orders/1'])
    expect(await paths(endpoint, 'ip=127.0.0.1&limit=1')).toEqual(['/c'])
    expect(await paths(endpoint, 'ip=::1')).toEqual([])
  })

  it.each([
    'limit=0',
    'limit=501',
    'since=yesterday',
    'since=2026-11-21T12:00:00',
    'cursor=x',
    'order=up',
    'format=xml',
    'ip=x',
  ])('refuses %s', async (query) => {
    const { status, json } = await portreeve.api(
      'GET',
      `/${(await portreeve.makeEndpoint()).id}/requests?${query}`,
    )
    expect([status, json.code]).toEqual([400, 'invalid_request'])
  })

  it('ends a page early when its bodies are large, and continues in the next', async () => {
    const endpoint = await portreeve.makeEndpoint()
    for (let i = 0; i < 4; i++)
      await send(endpoint, `/${i}`, { method: 'POST', body: Buffer.alloc(1024 * 1024, 'x') })
    const first = (await portreeve.api('GET', `/${endpoint.id}/requests`)).json
    expect([first.requests.length, first.hasMore]).toEqual([2, true])
    expect(await paths(endpoint, `cursor=${first.nextCursor}`)).toEqual(['/1', '/0'])
  })

  it('is exported as an HTTP Archive', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseStatus: 202 })
    await send(endpoint, '/h?a=1&a=2', { method: 'POST', body: 'text', headers: { cookie: 'c=d' } })
    await send(endpoint, '/bin', { method: 'POST', body: Buffer.from([255, 0]) })
    const { pathname } = new URL(endpoint.url)
    await portreeve.raw(
      `GET ${pathname} HTTP/1.1\r\nHost: a\r\nCookie: a=1; b=2\r\nCOOKIE: c=3=4\r\nConnection: close\r\n\r\n`,
    )
    const answer = await portreeve.portreeve.request(
      `/api/webhook/endpoints/${endpoint.id}/requests?format=har`,
      {
        token: portreeve.alice.token,
      },
    )
    expect(answer.headers.get('content-disposition')).toContain('.har')
    const { log } = (await answer.json()) as {
      log: { version: string; creator: object; entries: object[] }
    }
    expect(log).toMatchObject({ version: '1.2', creator: { name: 'Portreeve' } })
    expect(log.entries).toMatchObject([
      {
        request: {
          method: 'POST',
          url: `${endpoint.url}/h?a=1&a=2`,
          httpVersion: 'HTTP/1.1',
          cookies: [{ name: 'c', value: 'd' }],
          queryString: [
            { name: 'a', value: '1' },
            { name: 'a', value: '2' },
          ],
          postData: { text: 'text' },
          bodySize: 4,
        },
        response: { status: 202, statusText: 'Accepted' },
      },
      { request: { postData: { text: '/wA=', _encoding: 'base64' } } },
      {
        _clientIPAddress: '127.0.0.1',
        request: {
          cookies: [
            { name: 'a', value: '1' },
            { name: 'b', value: '2' },
            { name: 'c', value: '3=4' },
          ],
        },
      },
    ])
  })
})

describe('one request', () => {
  it('is listed, captured and verified again where its secrets cannot be decrypted', async () => {
    const signature = { scheme: 'github', secret: 'a secret of a lost key' }
    const given = { signature, template: true, responseBody: '{{hmac_sha256 body}}' }
    const endpoint = await portreeve.makeEndpoint(given)
    await send(endpoint, '/before', { method: 'POST', body: 'x' })
    const lost = encrypt('x', 'a key that was lost', 'webhook')
    await database.pool.query(
      'update webhook_endpoint set signature_secret = $2, response_secret = $2 where id = $1',
      [endpoint.id, lost],
    )
    // A change removes it from the caches.
    await portreeve.api('PUT', `/${endpoint.id}`, { label: 'lost' })
    expect((await send(endpoint, '/after', { method: 'POST', body: 'x' })).status).toBe(200)
    const { status, json } = await portreeve.api('GET', `/${endpoint.id}/requests`)
    expect([status, json.requests.map(({ path }) => path)]).toEqual([200, ['/after', '/before']])
    for (const { signature: verdict } of json.requests)
      expect(verdict).toEqual({
        status: 'unknown',
        reason: expect.stringContaining('Enter it again'),
      })
    expect((await portreeve.api('PUT', `/${endpoint.id}/response-secret`, {})).status).toBe(200)
    expect((await portreeve.api('PUT', `/${endpoint.id}`, { signature })).status).toBe(200)
    const again = await portreeve.api('GET', `/${endpoint.id}/requests`)
    expect(again.json.requests[0]?.signature?.status).toBe('unsigned')
  })

  it('comes with the command that sends it again and a verdict on its signature', async () => {
    const signature = { scheme: 'github', secret: "It's a Secret to Everybody" }
    const endpoint = await portreeve.makeEndpoint({ signature })
    expect(endpoint.signature).toEqual({ scheme: 'github' })
    const signed = 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'
    await send(endpoint, '', {
      method: 'POST',
      body: 'Hello, World!',
      headers: { 'x-hub-signature-256': signed },
    })
    await send(endpoint, '', {
      method: 'POST',
      body: 'Hello, World?',
      headers: { 'x-hub-signature-256': signed },
    })
    const [second, first] = await portreeve.captured(endpoint, 2)
    const detail = async (id = '') =>
      (await portreeve.api('GET', `/${endpoint.id}/requests/${id}`)).json
    const { request, signature: verdict, curl } = await detail(first?.id)
    expect({ ...request, signature: verdict }).toEqual(first)
    expect(verdict?.status).toBe('valid')
    expect(curl).toContain(`'${endpoint.url}'`)
    expect((await detail(second?.id)).signature).toMatchObject({ status: 'invalid' })
  })

  it('has a secret that is never returned', async () => {
    const endpoint = await portreeve.makeEndpoint({
      signature: { scheme: 'slack', secret: 'very-secret-indeed' },
    })
    const { rows } = await database.pool.query('select * from webhook_endpoint where id = $1', [
      endpoint.id,
    ])
    expect(JSON.stringify(rows)).not.toContain('very-secret')
    const change = { signature: { scheme: 'hmac', header: 'X-Sig' } }
    const { json } = await portreeve.api('PUT', `/${endpoint.id}`, change)
    expect(json.endpoint.signature).toEqual(change.signature)
    expect(
      (await portreeve.api('PUT', `/${endpoint.id}`, { signature: null })).json.endpoint.signature,
    ).toBe(null)
    expect((await portreeve.api('PUT', `/${endpoint.id}`, change)).status).toBe(400)
  })

  it('is unknown once it is gone', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const nobody = '019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42'
    expect((await portreeve.api('GET', `/${endpoint.id}/requests/${nobody}`)).status).toBe(404)
    expect((await portreeve.api('GET', `/${endpoint.id}/requests/x`)).status).toBe(404)
  })
})

describe('captured requests', () => {
  it('is trimmed to the newest thousand, soon after more arrive', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const sendAll = async (from: number) => {
      for (let i = 0; i < 210; i++) await send(endpoint, `/${from + i}`)
    }
    await Promise.all([0, 210, 420, 630, 840].map(sendAll))
    const count = async () => {
      const { rows } = await database.pool.query(
        'select count(*)::int as n from webhook_request where endpoint_id = $1',
        [endpoint.id],
      )
      return (rows[0] as { n: number }).n
    }
    await expect.poll(count).toBeLessThanOrEqual(1_000)
    expect(await count()).toBe(1_000)
    expect((await portreeve.api('GET', `/${endpoint.id}`)).json.endpoint.requestCount).toBe(1_050)
  }, 40_000)

  it('is stored for thirty days', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await sendMany(endpoint, 3)
    const age = (days: number, path: string) =>
      database.pool.query(
        `update webhook_request set received_at = now() - make_interval(days => $1) where path = $2 and endpoint_id = $3`,
        [days, path, endpoint.id],
      )
    await age(31, '/1')
    await age(29, '/2')
    const job = webhookCleanUpJob({
      db: database.db,
      quotas: CAPTURE_QUOTAS,
      raise: async () => {},
    })
    await job.run({}, jobContext())
    expect((await portreeve.captured(endpoint, 2)).map(({ path }) => path)).toEqual(['/3', '/2'])
  })
})
