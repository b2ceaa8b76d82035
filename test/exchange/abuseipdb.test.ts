import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openDatabase } from '../../src/store/database.ts'
import { requirePackages } from '../servers/machine.ts'
import { addAdministrator } from '../accounts/sessions.ts'
import { startTestService, type Person, type TestService } from '../service.ts'

const run = promisify(execFile)

const SENSORS = ['91.1.2.3', '92.2.3.4', '93.3.4.5']

let portreeve: TestService
let alice: Person
let key: string
let otherKey: string

beforeAll(async () => {
  requirePackages('fail2ban', 'curl')
  portreeve = await startTestService({ TRUSTED_PROXIES: '127.0.0.1', REQUEST_LIMITS: 'off' })
  alice = await addAdministrator(portreeve, 'Alice')
  key = await makeToken(alice)
  otherKey = await makeToken(await portreeve.addPerson('Bob'))
  // A sensor’s reports count fully from the start, so that its attackers are listed.
  for (const cidr of SENSORS)
    await portreeve.request('/api/v1/abuse/sensors', {
      method: 'POST',
      token: alice.token,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ cidr, label: 'sensor' }),
    })
})
afterAll(() => portreeve?.stop())

async function makeToken(person: Person): Promise<string> {
  const made = await portreeve.request('/api/v1/abuse/tokens', {
    method: 'POST',
    token: person.token,
  })
  return ((await made.json()) as { token: string }).token
}

type Asked = { by?: string | null; from?: string; method?: string; form?: Record<string, string> }

function call(path: string, { by = key, from = '91.1.2.3', method, form }: Asked = {}) {
  return portreeve.request(`/api/v2/${path}`, {
    method: method ?? (form ? 'POST' : 'GET'),
    headers: {
      accept: 'application/json',
      'x-forwarded-for': from,
      ...(by !== null && { key: by }),
    },
    ...(form && { body: new URLSearchParams(form) }),
  })
}

async function fleet<T>(path: string, body?: object): Promise<T> {
  const answer = await portreeve.request(`/api/v1/abuse/fleet${path}`, {
    method: body ? 'POST' : 'GET',
    token: alice.token,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })
  return ((await answer.json()) as { data: T }).data
}

const banned = async (ip: string) =>
  (await fleet<{ bans: object[] }>(`/bans?q=${ip}`)).bans.length === 1

type Answer = { data: Record<string, unknown> & { reports: { categories: number[] }[] } }
const ask = async (path: string, asked: Asked = {}) => {
  const answer = await call(path, asked)
  expect([path, answer.status]).toEqual([path, 200])
  return ((await answer.json()) as Answer).data
}

const report = (ip: string, asked: Asked = {}) =>
  ask('report', { form: { ip, categories: '18,22', comment: 'not stored' }, ...asked })

describe('AbuseIPDB’s API', () => {
  it('takes reports of forms, JSON and query strings, and shows them in check and reports', async () => {
    const ip = '9.6.1.1'
    expect(await report(ip)).toMatchObject({ ipAddress: ip, abuseConfidenceScore: expect.any(Number) }) // prettier-ignore
    expect(await ask(`report?ip=${ip}&categories=14`, { method: 'POST' })).toMatchObject({ ipAddress: ip }) // prettier-ignore
    const json = await portreeve.request('/api/v2/report', {
      method: 'POST',
      headers: { key, 'content-type': 'application/json', 'x-forwarded-for': '91.1.2.3' },
      body: JSON.stringify({ ip, categories: [5], timestamp: new Date().toISOString() }),
    })
    expect(json.status).toBe(200)
    const facts = await ask(`check?ipAddress=${ip}&maxAgeInDays=90&verbose`)
    expect(facts).toMatchObject({
      ipAddress: ip,
      isPublic: true,
      ipVersion: 4,
      isWhitelisted: false,
      countryCode: null,
      totalReports: 3,
      numDistinctUsers: 1,
    })
    expect(facts.reports.map(({ categories }) => categories)).toEqual(
      expect.arrayContaining([[18, 22], [14], [5, 18]]),
    )
    expect(await ask(`check?ipAddress=${ip}`)).not.toHaveProperty('reports')
    const page = await ask(`reports?ipAddress=${ip}&perPage=2`)
    expect(page).toMatchObject({ total: 3, page: 1, count: 2, perPage: 2, lastPage: 2, previousPageUrl: null }) // prettier-ignore
    const next = new URL(String(page['nextPageUrl']))
    expect(await ask(`reports${next.search}`)).toMatchObject({ count: 1, nextPageUrl: null })
  })

  it('answers about private addresses and networks', async () => {
    expect(await ask('check?ipAddress=127.0.0.1')).toMatchObject({ isPublic: false, totalReports: 0 }) // prettier-ignore
    await report('9.6.2.7')
    expect(await ask('check-block?network=9.6.2.0/24')).toMatchObject({
      networkAddress: '9.6.2.0',
      netmask: '255.255.255.0',
      minAddress: '9.6.2.0',
      maxAddress: '9.6.2.255',
      numPossibleHosts: 256,
      reportedAddress: [{ ipAddress: '9.6.2.7', numReports: 1, countryCode: null }],
    })
    await report('2a00:1450:a:b::1')
    expect(await ask('check-block?network=2a00:1450:a::/48')).toMatchObject({
      reportedAddress: [{ ipAddress: '2a00:1450:a:b::/64' }],
    })
  })

  it('reports files of CSV, and names rows that are invalid', async () => {
    const csv = 'IP,Categories,ReportDate,Comment\n9.6.3.1,"18,22",,ok\n10.0.0.1,22,,private\n'
    const form = new FormData()
    form.set('csv', new Blob([csv], { type: 'text/csv' }), 'report.csv')
    const answer = await portreeve.request('/api/v2/bulk-report', {
      method: 'POST',
      headers: { key, 'x-forwarded-for': '91.1.2.3' },
      body: form,
    })
    expect(await answer.json()).toMatchObject({
      data: { savedReports: 1, invalidReports: [{ input: '10.0.0.1', rowNumber: 3 }] },
    })
    expect(await ask('check?ipAddress=9.6.3.1')).toMatchObject({ totalReports: 1 })
  })

  it('fills a blacklist as JSON and as text', async () => {
    for (const ip of ['9.6.4.1', '9.6.4.2'])
      for (const from of SENSORS)
        await portreeve.request('/api/v1/abuse/report', {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-forwarded-for': from },
          body: JSON.stringify({ ip, service: 'ssh', count: 50 }),
        })
    const blacklist = async (query: string, accept = 'application/json') =>
      portreeve.request(`/api/v2/blacklist${query}`, { headers: { key, accept } })
    await expect
      .poll(async () => (await (await blacklist('')).json()) as object, { timeout: 20_000 })
      .toMatchObject({
        meta: { generatedAt: expect.stringMatching(/\+00:00$/) },
        data: expect.arrayContaining([
          expect.objectContaining({ ipAddress: '9.6.4.1', abuseConfidenceScore: expect.any(Number) }), // prettier-ignore
        ]),
      })
    const text = await blacklist('?limit=1', 'text/plain')
    expect(text.headers.get('x-generated-at')).toMatch(/\+00:00$/)
    expect(await text.text()).toMatch(/^[\d.:a-f/]+$/)
    expect(await (await blacklist('?plaintext&ipVersion=6')).text()).not.toMatch(/^9\.6/m)
  })

  it('deletes the reports of a key, but not those of others', async () => {
    const ip = '9.6.5.5'
    await report(ip)
    await report(ip, { by: otherKey, from: '94.1.2.3', form: { ip, categories: '14' } })
    expect(await ask(`check?ipAddress=${ip}`)).toMatchObject({ totalReports: 2, numDistinctUsers: 2 }) // prettier-ignore
    const clear = (by: string) => ask(`clear-address?ipAddress=${ip}`, { by, method: 'DELETE' })
    expect(await banned(ip)).toBe(true)
    expect(await clear(key)).toEqual({ numReportsDeleted: 1 })
    expect(await clear(key)).toEqual({ numReportsDeleted: 0 })
    // In the fleet of its workspace, too, where no other server reported it.
    expect(await banned(ip)).toBe(false)
    expect(await ask(`check?ipAddress=${ip}&verbose`)).toMatchObject({
      totalReports: 1,
      reports: [{ categories: [14] }],
    })
  })

  it('keeps bans of addresses that another server of the workspace reported, or a member banned', async () => {
    const [both, manual] = ['9.6.5.6', '9.6.5.7']
    const second = await makeToken(alice)
    const clear = (ip: string, by: string) => ask(`clear-address?ipAddress=${ip}`, { by, method: 'DELETE' }) // prettier-ignore
    for (const by of [key, second]) await report(both, { by })
    await report(manual)
    await fleet('/bans', { ip: manual, seconds: 864_000 })
    for (const ip of [both, manual]) await clear(ip, key)
    expect([await banned(both), await banned(manual)]).toEqual([true, true])
    await clear(both, second)
    expect(await banned(both)).toBe(false)
    expect(await fleet(`/history?ip=${both}&limit=1`)).toMatchObject({ changes: [{ kind: 'unbanned', cause: { by: 'withdrawal' } }] }) // prettier-ignore
  })

  it('counts the requests of a day over all instances', async () => {
    const by = await makeToken(alice)
    const { pool, close } = openDatabase(portreeve.databaseUrl)
    await pool.query(
      `insert into abuse_quota (token_id, endpoint, day, requests)
       select id, 'blacklist', (now() at time zone 'utc')::date, 498 from abuse_token where last_four = $1`,
      [by.slice(-4)],
    )
    const answers = await Promise.all([1, 2, 3].map(() => call('blacklist?limit=1', { by })))
    expect(answers.map(({ status }) => String(status)).toSorted()).toEqual(['200', '200', '429'])
    expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining') ?? 'none').toSorted()).toEqual(['0', '1', 'none']) // prettier-ignore
    await ask('check?ipAddress=8.8.4.4', { by })
    await ask('check?ipAddress=8.8.4.4', { by })
    await expect
      .poll(async () => {
        const { rows } = await pool.query<{ requests: number }>(
          "select requests from abuse_quota join abuse_token on id = token_id where endpoint = 'check' and last_four = $1",
          [by.slice(-4)],
        )
        return rows
      })
      .toEqual([{ requests: 2 }])
    await close()
  })

  it('fails as AbuseIPDB does: keys, parameters, plans, and counts of a day', async () => {
    const failure = async (path: string, asked: Asked = {}) => {
      const answer = await call(path, asked)
      const { errors } = (await answer.json()) as { errors: object[] }
      expect(errors[0]).toMatchObject({ detail: expect.any(String), status: answer.status })
      return [answer.status, (errors[0] as { source?: { parameter: string } }).source?.parameter]
    }
    for (const by of [null, 'nonsense', `ar_${'x'.repeat(32)}`])
      expect(await failure('check?ipAddress=8.8.8.8', { by })).toEqual([401, undefined])
    expect(await failure('check')).toEqual([422, 'ipAddress'])
    expect(await failure('check?ipAddress=8.8.8.256')).toEqual([422, 'ipAddress'])
    expect(await failure('check?ipAddress=8.8.8.8&maxAgeInDays=366')).toEqual([422, 'maxAgeInDays'])
    expect(await failure('report', { form: { ip: '9.6.1.1', categories: '99' } })).toEqual([422, 'categories']) // prettier-ignore
    expect(await failure('report', { form: { ip: '10.0.0.1', categories: '18' } })).toEqual([422, 'ip']) // prettier-ignore
    expect(await failure('check-block?network=9.0.0.0/8')).toEqual([402, undefined])
    expect(await failure('check-block?network=9.0.0.0')).toEqual([422, 'network'])
    const { headers } = await call('check?ipAddress=8.8.4.4')
    const [limit, remaining] = ['limit', 'remaining'].map((name) => Number(headers.get(`x-ratelimit-${name}`))) // prettier-ignore
    expect(limit).toBe(50_000)
    expect(remaining).toBeLessThan(50_000)
  })

  it('takes the request of fail2ban’s own action, with another host', async () => {
    const action = readFileSync('/etc/fail2ban/action.d/abuseipdb.conf', 'utf8')
    const [, ban = ''] = /^actionban = (.*)$/m.exec(action) ?? []
    const tags = { '<matches>': 'a line', '<ip>': '9.6.6.6', '<abuseipdb_apikey>': key, '<abuseipdb_category>': '18,22' } // prettier-ignore
    const command = Object.entries(tags)
      .reduce((text, [tag, value]) => text.replaceAll(tag, value), ban)
      .replaceAll('%%', '%')
      .replace('https://api.abuseipdb.com', portreeve.url)
    const { stdout } = await run('sh', ['-ec', command])
    expect(JSON.parse(stdout)).toMatchObject({ data: { ipAddress: '9.6.6.6' } })
  })
})
