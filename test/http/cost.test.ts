import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startHouse, type House, type Person } from '../house.ts'

/** Bytes of an answer that says what is wrong. */
const MAX_ANSWER = 64_000

/** Milliseconds: a body of 1 MB is parsed and refused in a few dozen; the faults that these tests are about took from 38,000. */
const MAX_DURATION = 4_000

let house: House
let alice: Person
beforeAll(async () => {
  house = await startHouse()
  alice = await house.addPerson('Alice')
})
afterAll(() => house.stop())

type Sent = { method?: string; path: string; body: string; type?: string }

async function send({ method = 'POST', path, body, type = 'application/json' }: Sent) {
  const started = performance.now()
  const response = await house.request(path, { method, token: alice.token, headers: { 'content-type': type }, body })
  const text = await response.text()
  return { status: response.status, text, duration: performance.now() - started }
}

const MEGABYTE = 1_040_000
const repeat = (item: string) =>
  Array(Math.floor(MEGABYTE / (item.length + 1)))
    .fill(item)
    .join(',')
const nested = (open: string, close: string) => {
  const depth = Math.floor(MEGABYTE / (open.length + close.length))
  return open.repeat(depth) + close.repeat(depth)
}
const unknownFields = `{${Array.from({ length: 60_000 }, (_, index) => `"field${index}": 1`).join(',')}}`

const CHANNELS = '/api/v1/alerts/channels'
const MIGRATE = '/api/v1/imap/migrate'
const account = '{"host": "a.example", "user": "a", "password": "a"}'

describe('a request that is wrong', () => {
  it('costs little time and no large answer, whatever is wrong with it', async () => {
    const channel = (kinds: string) => `{"type": "webhook", "url": "https://a.example/", "kinds": ${kinds}}`
    const migration = (folders: string) => `{"source": ${account}, "destination": ${account}, "folders": ${folders}}`
    const wrong: Record<string, Sent> = {
      'kinds of 40,000': { path: CHANNELS, body: channel(`[${Array(40_000).fill('1').join(',')}]`) },
      'kinds of 1 MB': { path: CHANNELS, body: channel(`[${repeat('1')}]`) },
      'kinds that are objects': { path: CHANNELS, body: channel(`[${repeat('{}')}]`) },
      'a long kind': { path: CHANNELS, body: channel(`["${'a-'.repeat(500_000)}!"]`) },
      'a long type': { path: CHANNELS, body: `{"type": "${'a'.repeat(MEGABYTE)}"}` },
      'a long time': { path: CHANNELS, body: `{"type": "webhook", "quietHours": {"from": "${'1'.repeat(MEGABYTE)}"}}` },
      'deep arrays': { path: CHANNELS, body: nested('[', ']') },
      'deep objects': { path: CHANNELS, body: `${'{"kinds":'.repeat(100_000)}1${'}'.repeat(100_000)}` },
      'unknown fields': { path: CHANNELS, body: unknownFields },
      'unknown fields of a plain body': { path: '/api/v1/monitoring/hosts', body: unknownFields },
      'folders that are the same': { path: MIGRATE, body: migration(`[${repeat('"INBOX"')}]`) },
      'folders that are numbers': { path: MIGRATE, body: migration(`[${repeat('1')}]`) },
      'folders that are records': { path: MIGRATE, body: migration(`[${repeat('{"a":1}')}]`) },
      'a map of folders': {
        path: MIGRATE,
        body: `{"folderMap": {${Array.from({ length: 60_000 }, (_, index) => `"f${index}": ""`).join(',')}}}`,
      },
      'a long name in a map': { path: MIGRATE, body: `{"folderMap": {"${'a'.repeat(MEGABYTE)}": "b"}}` },
      'a long password': { path: '/api/v1/imap/test-connection', body: `{"password": "${'a'.repeat(MEGABYTE)}"}` },
      'ports that are the same': {
        path: '/api/v1/monitoring/hosts',
        body: `{"host": "a.example", "tlsPorts": [${repeat('25')}]}`,
      },
      'a list of lists': {
        path: '/api/v1/monitoring/hosts',
        body: `{"host": "a", "lists": {${Array.from({ length: 60_000 }, (_, i) => `"l${i}": "x"`).join(',')}}}`,
      },
      'a long host': { path: '/api/v1/monitoring/hosts', body: `{"host": "${'a.'.repeat(500_000)}"}` },
      'a long domain': { path: '/api/v1/dmarc/domains', body: `{"domain": "${'xn--'.repeat(250_000)}"}` },
      'shared results': { path: '/api/v1/shared-checks', body: `{"results": [${repeat('{}')}]}` },
      'shared results that are numbers': { path: '/api/v1/shared-checks', body: `{"results": [${repeat('1')}]}` },
      'a deep shared result': {
        path: '/api/v1/shared-checks',
        body: `{"results": [{"check": "dns", "data": {"a": ${'['.repeat(400_000)}${']'.repeat(400_000)}}, "receipt": "1.${'x'.repeat(43)}"}]}`,
      },
      'a text of delisting': {
        path: '/api/v1/delisting',
        body: `{"ip": "${'1'.repeat(300_000)}", "cause": "${' '.repeat(300_000)}", "fix": "${' '.repeat(300_000)}"}`,
      },
      'an attack report': {
        path: '/api/v1/abuse/report',
        body: `{"ip": "${'::'.repeat(250_000)}", "service": "${'a'.repeat(500_000)}"}`,
      },
      'an appeal': { path: '/api/v1/abuse/appeals', body: `{"ip": "8.8.4.4", "reason": "${' '.repeat(MEGABYTE)}"}` },
      'bulk reports without end': {
        path: '/api/v1/abuse/report/bulk',
        type: 'application/x-ndjson',
        body: '1\n'.repeat(1_000_000),
      },
      'bulk reports in one quote': {
        path: '/api/v1/abuse/report/bulk',
        type: 'text/csv',
        body: `IP,Categories,ReportDate,Comment\n"${'a'.repeat(2_000_000)}`,
      },
      'bulk reports of commas': {
        path: '/api/v1/abuse/report/bulk',
        type: 'text/csv',
        body: `IP,Categories,ReportDate,Comment\n${'"",'.repeat(650_000)}`,
      },
      'an answer of a webhook': {
        path: '/api/webhook/endpoints',
        body: `{"responseType": "${'a/b;a='.repeat(170_000)}"}`,
      },
      'a header of a webhook': {
        path: '/api/webhook/endpoints',
        body: `{"signature": {"scheme": "hmac", "header": "${'a'.repeat(MEGABYTE)}"}}`,
      },
      'a code': {
        path: `${CHANNELS}/00000000-0000-0000-0000-000000000000/confirm`,
        body: `{"code": [${repeat('1')}]}`,
      },
    }
    for (const [name, request] of Object.entries(wrong)) {
      const { status, text, duration } = await send(request)
      expect(`${name}: ${status}`).toMatch(name === 'bulk reports in one quote' ? /: 200$/ : /: (400|404|413)$/)
      expect(text.length, name).toBeLessThan(MAX_ANSWER)
      expect(duration, name).toBeLessThan(MAX_DURATION)
    }
  })

  it('does not keep others waiting', async () => {
    const body = `{"type": "webhook", "kinds": [${repeat('1')}]}`
    const large = Promise.all(Array.from({ length: 5 }, () => send({ path: CHANNELS, body })))
    const started = performance.now()
    expect((await house.request('/healthz')).status).toBe(200)
    expect(performance.now() - started).toBeLessThan(MAX_DURATION)
    for (const { status } of await large) expect(status).toBe(400)
  })

  it('is told of two or three fields as of each alone', async () => {
    const { text } = await send({ path: CHANNELS, body: '{"type": "webhook", "url": 5, "kinds": [1], "label": 7}' })
    expect(
      JSON.parse(text)
        .details.map(({ path }: { path: string }) => path)
        .toSorted(),
    ).toEqual(['kinds.0', 'label', 'url'])
  })
})

describe('a query with a NUL', () => {
  it('is told which field has it, after who asks was let in', async () => {
    const path = '/api/v1/dns-check?domain=a%00b'
    expect((await house.request(path)).status).toBe(401)
    const response = await house.request(path, { token: alice.token })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({
      code: 'invalid_request',
      details: [{ path: 'domain', message: 'must not have a NUL character (%00)' }],
    })
  })

  it('is refused also in a name, and in a path', async () => {
    const named = await house.request('/api/v1/service?a%00b=1')
    expect([named.status, ((await named.json()) as { details: object }).details]).toMatchObject([
      400,
      [{ path: 'a%00b' }],
    ])
    expect((await house.request('/api/v1/ser%00vice')).status).toBe(400)
  })
})
