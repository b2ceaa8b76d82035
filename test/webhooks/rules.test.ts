import { createHmac } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Static } from 'typebox'
import type { RulePreview, WebhookRule } from '../../src/webhooks/rules/shapes.ts'
import { answerAt } from '../../src/webhooks/rules/prepare-rules.ts'
import { HANG_MS } from '../../src/webhooks/limits.ts'
import type { Person } from '../service.ts'
import { sendRaw, startWebhooks, type Answer, type Endpoint, type WebhooksTest } from './module.ts'

type RuleAnswer = Answer & {
  rule: WebhookRule
  rules: WebhookRule[]
  reset: number
} & Pick<Static<typeof RulePreview>, 'answering'>

let portreeve: WebhooksTest
let charlie: Person
let admin: Person
beforeAll(async () => {
  portreeve = await startWebhooks()
  charlie = await portreeve.portreeve.addPerson('Charlie')
  admin = await portreeve.portreeve.addPerson('Ada', { admin: true })
})
afterAll(() => portreeve.stop())

async function api(method: string, path: string, body?: object, token?: string) {
  const { status, json } = await portreeve.api(method, path, body, token)
  return { status, json: json as RuleAnswer }
}

async function addRule({ id }: Endpoint, rule: object): Promise<WebhookRule> {
  const { status, json } = await api('POST', `/${id}/rules`, rule)
  expect([status, json.error]).toEqual([201, undefined])
  return json.rule
}

const send = ({ token }: Endpoint, init: RequestInit = {}, rest = '') =>
  portreeve.portreeve.request(`/webhooks/${token}${rest}`, { method: 'POST', ...init })
const statusOf = async (endpoint: Endpoint, init: RequestInit = {}, rest = '') =>
  (await send(endpoint, init, rest)).status

describe('rules of an endpoint', () => {
  it('answer in their order, the endpoint’s own response being the last', async () => {
    const endpoint = await portreeve.makeEndpoint({ responseBody: 'own' })
    const paid = await addRule(endpoint, {
      label: 'paid',
      when: { 'body/type': 'paid' },
      answers: [
        {
          status: 202,
          body: '{"id":"{{body.id}}"}',
          type: 'application/json',
          template: true,
          headers: [['Retry-After', '7']],
        },
      ],
    })
    const all = await addRule(endpoint, { when: { method: 'PUT' }, answers: [{ status: 418 }] })
    const first = await send(endpoint, { body: '{"type":"paid","id":"a\\"b"}' })
    expect([first.status, await first.json()]).toEqual([202, { id: 'a"b' }])
    expect(first.headers.get('retry-after')).toBe('7')
    expect(first.headers.get('content-security-policy')).toContain('sandbox')
    expect(await (await send(endpoint, { body: '{"type":"other"}' })).text()).toBe('own')
    expect(await statusOf(endpoint, { method: 'PUT', body: '{"type":"paid"}' })).toBe(202)
    const ids = [all.id, paid.id]
    const ordered = await api('PUT', `/${endpoint.id}/rules/order`, { ids })
    expect(ordered.json.rules.map(({ id }) => id)).toEqual(ids)
    expect(await statusOf(endpoint, { method: 'PUT', body: '{"type":"paid"}' })).toBe(418)
    await api('PUT', `/${endpoint.id}/rules/${all.id}`, { enabled: false })
    expect(await statusOf(endpoint, { method: 'PUT', body: '{"type":"paid"}' })).toBe(202)
    await api('DELETE', `/${endpoint.id}/rules/${paid.id}`)
    expect(await statusOf(endpoint, { body: '{"type":"paid"}' })).toBe(200)
    const requests = await portreeve.captured(endpoint, 6)
    expect(requests.map(({ answeredBy }) => answeredBy?.ruleId ?? null).toReversed()).toEqual([
      paid.id,
      null,
      paid.id,
      all.id,
      paid.id,
      null,
    ])
    expect(requests.at(-1)).toMatchObject({
      responseStatus: 202,
      answeredBy: { label: 'paid', answer: 1, key: null, fault: null },
    })
  })

  it('can depend on the signature of the sender', async () => {
    const endpoint = await portreeve.makeEndpoint({
      signature: { scheme: 'github', secret: 'hush' },
    })
    await addRule(endpoint, { when: { verified: false }, answers: [{ status: 401 }] })
    const signature = createHmac('sha256', 'hush').update('x').digest('hex')
    const headers = { 'x-hub-signature-256': `sha256=${signature}` }
    expect(await statusOf(endpoint, { body: 'x', headers })).toBe(200)
    expect(await statusOf(endpoint, { body: 'y', headers })).toBe(401)
  })

  it('leave preflights, embedded pages and rejected requests alone', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await addRule(endpoint, { answers: [{ status: 503 }, { status: 200 }] })
    const preflight = { origin: 'https://a.test', 'access-control-request-method': 'PUT' }
    const answer = (lines: string[], method = 'POST') =>
      sendRaw(
        portreeve.portreeve.wire,
        `${method} /webhooks/${endpoint.token} HTTP/1.1\r\n${lines.join('\r\n')}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`,
      )
    expect(
      await answer(
        ['Host: h', ...Object.entries(preflight).map(([a, b]) => `${a}: ${b}`)],
        'OPTIONS',
      ),
    ).toContain(' 204 ')
    expect(await answer(['Host: h', 'Sec-Fetch-Dest: script'])).toContain(' 403 ')
    expect(await answer(['Host: h', 'Host: g'])).toContain(' 400 ')
    expect(await answer(['Host: h'])).toContain(' 503 ')
  })

  it.each([
    [{ answers: [] }, 'answers'],
    [{ answers: [{ status: 99 }] }, 'answers.0.status'],
    [{ answers: [{}], when: { nothing: 1 } }, 'when.nothing'],
    [{ answers: [{}], key: 'cookie' }, 'key'],
    [{ answers: [{ delayMs: { min: 9, max: 3 } }] }, 'answers.0.delayMs'],
    [{ answers: [{ type: 'html' }] }, 'answers.0.type'],
    [{ answers: [{ headers: [['Set-Cookie', 'a=b']] }] }, 'answers.0.headers.0'],
    [{ answers: Array.from({ length: 5 }, () => ({ body: 'x'.repeat(65_536) })) }, 'answers'],
  ])('are refused with what is wrong: %#', async (rule, path) => {
    const endpoint = await portreeve.makeEndpoint()
    const { status, json } = await api('POST', `/${endpoint.id}/rules`, rule)
    expect([status, json.code]).toEqual([400, 'invalid_request'])
    expect(json.details.map((detail) => detail.path).join()).toContain(path)
  })

  it('are up to twenty, and nothing of another workspace', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const rules: WebhookRule[] = []
    for (let i = 0; i < 20; i++) rules.push(await addRule(endpoint, { answers: [{}] }))
    const path = `/${endpoint.id}/rules`
    expect((await api('POST', path, { answers: [{}] })).status).toBe(409)
    const [first] = rules
    const asks = [
      ['GET', path],
      ['POST', path, { answers: [{}] }],
      ['PUT', `${path}/order`, { ids: rules.map(({ id }) => id) }],
      ['PUT', `${path}/${first?.id}`, { enabled: false }],
      ['DELETE', `${path}/${first?.id}`],
      ['POST', `${path}/${first?.id}/reset`, {}],
      ['POST', `${path}/preview`, { requestId: endpoint.id }],
    ] as const
    for (const [method, at, body] of asks)
      expect([at, (await api(method, at, body, charlie.token)).status]).toEqual([at, 404])
    expect((await api('GET', path)).json.rules).toEqual(rules)
    const wrong = { ids: rules.slice(1).map(({ id }) => id) }
    expect((await api('PUT', `${path}/order`, wrong)).status).toBe(400)
  })

  it('are previewed on a captured request, without a step of a sequence', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await send(endpoint, { body: '{"n":1}' })
    const [request] = await portreeve.captured(endpoint)
    const other = await addRule(endpoint, { when: { 'body/n': 2 }, answers: [{}] })
    const off = await addRule(endpoint, { enabled: false, answers: [{}] })
    const rule = await addRule(endpoint, { answers: [{ status: 500 }, { status: 201 }] })
    const { json } = await api('POST', `/${endpoint.id}/rules/preview`, { requestId: request?.id })
    expect(json).toEqual({
      success: true,
      answering: rule.id,
      rules: [
        { id: other.id, enabled: true, matches: false },
        { id: off.id, enabled: false, matches: true },
        { id: rule.id, enabled: true, matches: true },
      ],
    })
    expect(await statusOf(endpoint)).toBe(500)
  })
})

describe('a sequence', () => {
  it('counts each key on its own: a retry of one event meets the next answer', async () => {
    const endpoint = await portreeve.makeEndpoint()
    const rule = await addRule(endpoint, {
      answers: [{ status: 503, times: 2, headers: [['Retry-After', '1']] }, { status: 200 }],
      key: 'body/id',
    })
    const of = (id: string) => statusOf(endpoint, { body: `{"id":${id}}` })
    // As numbers, both ids would be the same.
    const [a, b] = ['12345678901234567890', '12345678901234567891']
    const statuses = []
    for (const id of [a, b, a, a, b, b, a]) statuses.push(await of(id))
    expect(statuses).toEqual([503, 503, 503, 200, 503, 200, 200])
    const [newest] = await portreeve.captured(endpoint, 7)
    expect(newest?.answeredBy).toMatchObject({ answer: 2, key: a })
    const path = `/${endpoint.id}/rules/${rule.id}`
    expect((await api('POST', `${path}/reset`, { key: a })).json.reset).toBe(1)
    expect([await of(a), await of(b)]).toEqual([503, 200])
    expect((await api('POST', `${path}/reset`, {})).json.reset).toBe(2)
    expect([await of(a), await of(b)]).toEqual([503, 503])
    // Another label changes nothing, other answers restart it.
    await of(a)
    await api('PUT', path, { label: 'renamed' })
    expect(await of(a)).toBe(200)
    await api('PUT', path, { answers: [{ status: 500 }, { status: 201 }] })
    expect([await of(a), await of(a)]).toEqual([500, 201])
  })

  it('gives each number once to 64 senders at once', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await addRule(endpoint, {
      answers: [{ status: 503, times: 100 }, { status: 429, times: 28 }, { status: 200 }],
      after: 'repeat',
    })
    const sending = Array.from({ length: 64 }, async () => {
      const statuses = []
      for (let i = 0; i < 4; i++) statuses.push(await statusOf(endpoint))
      return statuses
    })
    const statuses = (await Promise.all(sending)).flat()
    const count = (status: number) => statuses.filter((one) => one === status).length
    // 129 requests of each round: 256 are one round and 127 requests of the next.
    expect([count(503), count(429), count(200)]).toEqual([200, 55, 1])
  })

  it('is where the numbers of its answers say', () => {
    const rule = { answers: [{ times: 2 }, { times: 1 }, { times: 3 }], total: 6, repeats: false }
    const all = (repeats: boolean) =>
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((number) => answerAt({ ...rule, repeats }, number))
    expect(all(false)).toEqual([0, 0, 1, 2, 2, 2, 2, 2, 2])
    expect(all(true)).toEqual([0, 0, 1, 2, 2, 2, 0, 0, 1])
  })
})

describe('a fault', () => {
  const raw = async (endpoint: Endpoint) =>
    sendRaw(
      portreeve.portreeve.wire,
      `POST /webhooks/${endpoint.token} HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n`,
    ).catch((error: NodeJS.ErrnoException) => error.code)

  it.each([
    ['close', /^$/],
    ['reset', /^ECONNRESET$/],
    ['truncate', /Content-Length: 10\r\n[^]*\r\n\r\n01234$/],
  ])('%s ends the connection, and the request is stored', async (fault, expected) => {
    const endpoint = await portreeve.makeEndpoint()
    await addRule(endpoint, { answers: [{ fault, body: '0123456789' }] })
    expect(await raw(endpoint)).toMatch(expected)
    const [request] = await portreeve.captured(endpoint)
    expect(request).toMatchObject({
      responseStatus: fault === 'truncate' ? 200 : null,
      answeredBy: { fault },
    })
  })

  it('trickle sends the whole body in parts', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await addRule(endpoint, { answers: [{ fault: 'trickle', body: 'abc' }] })
    const { body } = await send(endpoint)
    const parts: string[] = []
    for await (const part of body as unknown as AsyncIterable<Uint8Array>)
      parts.push(Buffer.from(part).toString())
    expect(parts.join('')).toBe('abc')
    expect(parts.length).toBeGreaterThan(1)
  })

  it('hang answers nothing, while other senders are answered', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await addRule(endpoint, { answers: [{ fault: 'hang' }, { status: 200 }] })
    const stopping = new AbortController()
    const hanging = send(endpoint, { signal: stopping.signal }).then(
      () => 'answered',
      () => 'aborted',
    )
    await portreeve.captured(endpoint)
    expect(await statusOf(endpoint)).toBe(200)
    stopping.abort()
    expect(await hanging).toBe('aborted')
    expect(HANG_MS).toBeLessThanOrEqual(60_000)
  })

  it('delays come from a range, and count as waiting responses', async () => {
    const endpoint = await portreeve.makeEndpoint()
    await addRule(endpoint, { answers: [{ delayMs: { min: 20, max: 40 }, status: 202 }] })
    const startedAt = performance.now()
    expect(await statusOf(endpoint)).toBe(202)
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(15)
  })
})

describe('headers of a response', () => {
  it('are sent beside those that protect browsers', async () => {
    const responseHeaders = [
      ['Retry-After', '3'],
      ['X-Twice', 'a'],
      ['X-Twice', 'b'],
      ['ETag', '"x"'],
    ]
    const endpoint = await portreeve.makeEndpoint({ responseHeaders, responseStatus: 503 })
    expect(endpoint.responseHeaders).toEqual(responseHeaders)
    const answer = await send(endpoint)
    expect(answer.headers.get('x-twice')).toBe('a, b')
    expect(answer.headers.get('retry-after')).toBe('3')
    expect(answer.headers.get('x-content-type-options')).toBe('nosniff')
    await api('PUT', `/${endpoint.id}`, { template: true, responseBody: '{{body}}' })
    const filled = await send(endpoint, { body: 'x' })
    expect([filled.headers.get('etag'), await filled.text()]).toEqual(['"x"', 'x'])
    await api('PUT', `/${endpoint.id}`, { responseHeaders: [] })
    expect((await send(endpoint)).headers.get('etag')).toBeNull()
  })

  it.each([
    ['Set-Cookie', 'a=b'],
    ['set-cookie2', 'a=b'],
    ['Content-Length', '5'],
    ['Transfer-Encoding', 'chunked'],
    ['Connection', 'close'],
    ['Content-Type', 'text/html'],
    ['Content-Security-Policy', 'none'],
    ['Content-Security-Policy-Report-Only', 'none'],
    ['Strict-Transport-Security', 'max-age=1'],
    ['Service-Worker-Allowed', '/'],
    ['Clear-Site-Data', '"*"'],
    ['Access-Control-Allow-Credentials', 'true'],
    ['Cross-Origin-Resource-Policy', 'cross-origin'],
    ['Refresh', '0; url=https://a.test'],
    ['Link', '<https://a.test>; rel=preload'],
    ['Alt-Svc', 'h2=":443"'],
    ['X-Frame-Options', 'ALLOWALL'],
    ['X-Portreeve-Request', '1'],
    ['Server', 'x'],
    ['Location', 'https://a.test'],
    ['WWW-Authenticate', 'Basic'],
    ['a b', 'x'],
    ['X-Line', 'a\r\nSet-Cookie: b=c'],
    ['X-Wide', 'a\u0100'],
    ['X-Blank', ' a'],
  ])('refuse %s', async (name, value) => {
    const responseHeaders = [[name, value]]
    const { status, json } = await api('POST', '', { responseHeaders })
    expect([status, json.details.map(({ path }) => path)]).toEqual([400, ['responseHeaders.0']])
  })

  it('fit the status, whichever of both changes', async () => {
    const responseHeaders = [['WWW-Authenticate', 'Basic realm="x"']]
    const endpoint = await portreeve.makeEndpoint({ responseHeaders, responseStatus: 401 })
    expect((await api('PUT', `/${endpoint.id}`, { responseStatus: 200 })).status).toBe(400)
    expect((await send(endpoint)).headers.get('www-authenticate')).toContain('Basic')
    // A browser would ask its user for a password of this host.
    const page = await send(endpoint, { method: 'GET', headers: { accept: 'text/html,*/*' } })
    expect([page.status, page.headers.get('www-authenticate')]).toEqual([401, null])
  })
})

describe('a chosen name', () => {
  let taken = 0
  const newName = () => `shop-orders-${process.pid}-${(taken += 1)}`
  const byName = (name: string, settings: object, token = admin.token) =>
    api('PUT', `/by-name/${name}`, settings, token)

  it('makes a setup repeatable, and its URL works beside the token’s', async () => {
    const name = newName()
    const made = await byName(name, { responseBody: 'one' })
    expect([made.status, made.json.endpoint.name]).toEqual([201, name])
    expect(made.json.endpoint.namedUrl).toContain(`/webhooks/${name}`)
    const again = await byName(name, { responseBody: 'two' })
    expect([again.status, again.json.endpoint.id]).toEqual([200, made.json.endpoint.id])
    expect(again.json.endpoint.token).toMatch(/^[A-Za-z0-9]{10}$/)
    const answerAtKey = async (key: string) =>
      (await portreeve.portreeve.request(`/webhooks/${key}/x`)).text()
    expect(await answerAtKey(name)).toBe('two')
    expect(await answerAtKey(again.json.endpoint.token)).toBe('two')
    expect(await answerAtKey(name.toUpperCase())).toContain('no webhook endpoint')
  })

  it('stays with its workspace for a while after it was given up', async () => {
    const name = newName()
    const { json } = await byName(name, {})
    const other = await portreeve.portreeve.addPerson('Eve', { admin: true })
    expect((await byName(name, {}, other.token)).status).toBe(409)
    const renamed = newName()
    const change = { name: renamed }
    const changed = await api('PUT', `/${json.endpoint.id}`, change, admin.token)
    expect(changed.json.endpoint.name).toBe(renamed)
    const statusAt = async (key: string) =>
      (await portreeve.portreeve.request(`/webhooks/${key}`)).status
    expect([await statusAt(name), await statusAt(renamed)]).toEqual([404, 200])
    expect((await byName(name, {}, other.token)).status).toBe(409)
    await api('DELETE', `/${json.endpoint.id}`, undefined, admin.token)
    expect(await statusAt(renamed)).toBe(404)
    expect((await byName(renamed, {}, other.token)).status).toBe(409)
    expect((await byName(name, {})).status).toBe(201)
  })

  it('is created once by callers at the same time', async () => {
    const name = newName()
    const all = await Promise.all([1, 2, 3, 4].map(() => byName(name, {})))
    expect(new Set(all.map(({ json }) => json.endpoint.id)).size).toBe(1)
    expect(all.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 200, 200, 201])
  })

  it.each([
    'short',
    'abcdefghij',
    '0123456789',
    'Upper-case',
    '-begins',
    'ends-',
    'portreeve',
    'a.b.c.d',
  ])('is not %s', async (name) => {
    const { status, json } = await byName(name, {})
    expect([status, json.details.map(({ path }) => path)]).toEqual([400, ['name']])
  })

  it('is for administrators unless WEBHOOK_NAMES says otherwise', async () => {
    const { status, json } = await byName(newName(), {}, charlie.token)
    expect([status, json.code]).toEqual([403, 'forbidden'])
    expect(json.error).toContain('WEBHOOK_NAMES')
  })
})
