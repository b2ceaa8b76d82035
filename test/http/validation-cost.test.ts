import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestService, type TestService, type Person } from '../service.ts'

/**
 * Milliseconds for each of these requests, and for one of another account beside it. They took
 * seconds to minutes before.
 */
const MAX_MS = 3_000

/** Bytes of the largest error answer. */
const MAX_ANSWER_BYTES = 64_000

let portreeve: TestService
let mallory: Person
let alice: Person
beforeAll(async () => {
  portreeve = await startTestService()
  ;[mallory, alice] = [await portreeve.addPerson('Mallory'), await portreeve.addPerson('Alice')]
})
afterAll(() => portreeve.stop())

const ofSize = (one: string, bytes: number) =>
  Array.from({ length: Math.floor(bytes / (one.length + 1)) }, () => one).join(',')
const fields = (bytes: number) =>
  Array.from(
    { length: Math.floor(bytes / 12) },
    (_, n) => `"f${String(n).padStart(6, '0')}":1`,
  ).join(',')
const channel = (kinds: string) => `{"type":"webhook","url":"https://a.test","kinds":[${kinds}]}`
const MIB = 1_000_000

const ATTACKS: Record<string, [path: string, body: string]> = {
  '40,000 wrong items of an array': [
    '/api/v1/alerts/channels',
    channel(ofSize('"WRONG!"', 40_000 * 9)),
  ],
  'a megabyte of wrong items': ['/api/v1/alerts/channels', channel(ofSize('1', MIB))],
  'a megabyte of wrong items of a choice': ['/api/v1/alerts/channels', `[${ofSize('{}', MIB)}]`],
  '900 kB of results without anything in them': [
    '/api/v1/shared-checks',
    `{"results":[${ofSize('{}', 900_000)}]}`,
  ],
  'a megabyte of unknown fields': ['/api/v1/alerts/channels', `{${fields(MIB)}}`],
  'a field whose name is a megabyte long': [
    '/api/v1/imap/migrate',
    `{"folderMap":{"${'x'.repeat(MIB)}":1}}`,
  ],
  'a text of a megabyte where a pattern is wanted': [
    '/api/webhook/endpoints',
    `{"label":"${'\\t'.repeat(MIB / 2)}"}`,
  ],
  'an e-mail address of a megabyte': [
    '/api/v1/setup',
    `{"token":"x","email":"${'a.'.repeat(MIB / 2)}","password":"x"}`,
  ],
  'half a million nested arrays': [
    '/api/v1/shared-checks',
    `{"results":${'['.repeat(500_000)}${']'.repeat(500_000)}}`,
  ],
  'arrays nested in the data of a result': [
    '/api/v1/shared-checks',
    `{"results":[{"check":"dns","receipt":"x","data":{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}}]}`,
  ],
  'folders that are all the same, and too many': [
    '/api/v1/imap/migrate',
    `{"source":{},"destination":{},"folders":[${ofSize('"a"', MIB)}]}`,
  ],
  'two million rows of reports': ['/api/v1/abuse/report/bulk', '{\n'.repeat(MIB)],
  'a table of a million rows': [
    '/api/v1/abuse/report/bulk',
    `IP,Categories,ReportDate,Comment\n${'1,\n'.repeat(600_000)}`,
  ],
  'a table of quotation marks that never close': [
    '/api/v1/abuse/report/bulk',
    `IP,Categories,ReportDate,Comment\n${'"a""\n'.repeat(300_000)}`,
  ],
}

async function timed(
  answer: Promise<Response>,
): Promise<{ ms: number; status: number; bytes: number }> {
  const begun = performance.now()
  const { status, ...response } = await answer.then(async (one) => ({
    status: one.status,
    text: await one.text(),
  }))
  return { ms: performance.now() - begun, status, bytes: Buffer.byteLength(response.text) }
}

describe('an invalid request', () => {
  it.each(Object.entries(ATTACKS))('with %s does not slow down others', async (_, [path, body]) => {
    const type = path.endsWith('bulk')
      ? body.startsWith('IP')
        ? 'text/csv'
        : 'application/x-ndjson'
      : 'application/json'
    const init = { method: 'POST', body, token: mallory.token, headers: { 'content-type': type } }
    const state = { isAnswered: false }
    const wrong = timed(portreeve.request(path, init)).finally(() => (state.isAnswered = true))
    do {
      const beside = await timed(portreeve.request('/api/v1/account', { token: alice.token }))
      expect(beside).toMatchObject({ status: 200 })
      expect(beside.ms).toBeLessThan(MAX_MS)
    } while (!state.isAnswered)
    const { ms, status, bytes } = await wrong
    expect([400, 404, 409, 413, 422]).toContain(status)
    expect(bytes).toBeLessThan(MAX_ANSWER_BYTES)
    expect(ms).toBeLessThan(MAX_MS)
  })

  it('names up to ten problems', async () => {
    const kinds = Array.from({ length: 15 }, () => 'WRONG')
    const body = JSON.stringify({ type: 'webhook', url: 'https://a.test', kinds })
    const init = {
      method: 'POST',
      body,
      token: alice.token,
      headers: { 'content-type': 'application/json' },
    }
    const answer = await portreeve.request('/api/v1/alerts/channels', init)
    expect(answer.status).toBe(400)
    expect(((await answer.json()) as { details: object[] }).details).toHaveLength(10)
  })

  it.each([
    ['/api/v1/dns-check?domain=a%00b', 'domain'],
    ['/api/v1/abuse/check?ip=8.8.8.8&x%00=1', 'x%00'],
    ['/api/v1/abuse/tokens/a%00b', 'path'],
  ])('with a NUL names the field: %s', async (path, field) => {
    const answer = await portreeve.request(path, { token: alice.token })
    expect(answer.status).toBe(400)
    expect(await answer.json()).toMatchObject({
      details: [{ path: field, message: expect.stringContaining('NUL') }],
    })
  })
})
