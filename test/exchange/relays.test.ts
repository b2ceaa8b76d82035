import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sendDueReports, type RelayDeps } from '../../src/exchange/relays/send-due.ts'
import { categoriesOf } from '../../src/exchange/relays/services/abuseipdb.ts'
import { serviceNameOf } from '../../src/exchange/relays/services/blocklist-de.ts'
import { createLog } from '../../src/log.ts'
import { openDatabase } from '../../src/store/database.ts'
import { itAlone } from '../scaled/alone.ts'
import { startSink, type Sink } from '../servers/mail-sink.ts'
import { acceptAll, startRelayServices, type RelayServices } from '../servers/relay-services.ts'
import { mapResolver } from '../resolver.ts'
import { SERVICE_KEY, startTestService, type Person, type TestService } from '../service.ts'

const alone = itAlone('needs other origins of services')
const KEY = 'a1b2c3d4e5f6a7b8'

let services: RelayServices
let sink: Sink
let portreeve: TestService
let database: ReturnType<typeof openDatabase>
let deps: RelayDeps
let alice: Person
let bob: Person
let charlie: Person
const tokens = new Map<Person, string>()
/** Milliseconds by which the sender is ahead, so that no test waits for an interval. */
let ahead = 0

beforeAll(async () => {
  services = await startRelayServices()
  sink = await startSink()
  const settings = { TRUSTED_PROXIES: '127.0.0.1', SMTP_URL: sink.url, MAIL_FROM: 'portreeve@example.com', ROLES: 'web' } // prettier-ignore
  portreeve = await startTestService(settings, undefined, { providerOrigins: services.origins })
  database = openDatabase(portreeve.databaseUrl)
  deps = {
    db: database.db,
    log: createLog('silent'),
    clock: () => Date.now() + ahead,
    secretKey: SERVICE_KEY,
    resolver: mapResolver(),
    allowPrivate: true,
    mailRelay: { smtpUrl: sink.url, from: 'portreeve@example.com' },
    origins: services.origins,
  }
  alice = await portreeve.addPerson('Alice')
  bob = await portreeve.addPerson('Bob')
  charlie = await portreeve.addPerson('Charlie')
  for (const person of [alice, bob]) {
    const { token } = (await (await ask(person, 'POST', 'tokens', {})).json()) as { token: string }
    tokens.set(person, token)
  }
})
afterAll(async () => {
  await portreeve?.stop()
  await database?.close()
  await services?.stop()
  await sink?.stop()
})
beforeEach(() => {
  services.answer = acceptAll
  services.requests.length = 0
})

const ask = (as: Person, method: string, path: string, body?: object) =>
  portreeve.request(`/api/v1/abuse/${path}`, {
    method,
    token: as.token,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  })

const report = (as: Person, ip: string, rest: object = {}) =>
  portreeve.request('/api/v1/abuse/report', {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-report-token': tokens.get(as) ?? '' },
    body: JSON.stringify({ ip, service: 'ssh', ...rest }),
  })

const relayTo = async (as: Person, service: string, settings: object) => {
  const answer = await ask(as, 'PUT', `relays/${service}`, settings)
  expect(answer.status).toBe(200)
}

const send = () => sendDueReports(deps, AbortSignal.timeout(20_000))

type Reports = {
  address: string
  state: string
  reason: string
  services: string[]
  count: number
}[]

async function reportsOf(as: Person, query = ''): Promise<Reports> {
  const answer = await ask(as, 'GET', `relays/reports?limit=100${query}`)
  return ((await answer.json()) as { data: { reports: Reports } }).data.reports
}

type Relay = { service: string; settings: object | null; problem: string | null; waiting: number; sent24h: number; pausedUntil: string | null } // prettier-ignore

async function relayOf(as: Person, service: string): Promise<Relay> {
  const answer = await ask(as, 'GET', 'relays')
  const { data } = (await answer.json()) as { data: Relay[] }
  return data.find((relay) => relay.service === service) as Relay
}

describe('names of attacked services', () => {
  it('are mapped to categories of AbuseIPDB and services of blocklist.de', () => {
    expect(categoriesOf(['ssh', 'imap', 'ssh'])).toEqual(expect.arrayContaining([18, 22]))
    expect(categoriesOf(['unheard-of'])).toEqual([15])
    expect(['ssh', 'smtp-auth', 'wordpress', 'rdp'].map(serviceNameOf)).toEqual(['ssh', 'sasl', 'apache', 'rdp']) // prettier-ignore
  })
})

describe('a relay to AbuseIPDB', () => {
  alone(
    'gets what the reporter sent, once per address in 15 minutes, and nothing else',
    async () => {
      await report(alice, '9.1.1.1')
      expect((await ask(alice, 'PUT', 'relays/abuseipdb', { key: 'short' })).status).toBe(400)
      await relayTo(alice, 'abuseipdb', { key: KEY })
      await report(alice, '9.1.1.2', { port: 22, count: 3 })
      await report(alice, '9.1.1.2', { service: 'imap' })
      await report(alice, '9.1.1.3', { service: 'syn-flood' })
      await report(bob, '9.1.1.4')
      await send()
      expect(services.requests).toHaveLength(1)
      const form = services.requests[0]?.form ?? {}
      expect(services.requests[0]?.headers['key']).toBe(KEY)
      expect(Object.keys(form).toSorted()).toEqual(['categories', 'ip', 'timestamp'])
      expect(form).toMatchObject({ ip: '9.1.1.2', categories: expect.stringMatching(/^18,22$/) })
      expect(await reportsOf(alice)).toMatchObject([
        { address: '9.1.1.2', state: 'sent', count: 4 },
      ])
      await report(alice, '9.1.1.2')
      await send()
      expect(services.requests).toHaveLength(1)
      expect(await relayOf(alice, 'abuseipdb')).toMatchObject({ waiting: 1, sent24h: 1 })
      ahead = 16 * 60_000
      await send()
      expect(services.requests).toHaveLength(2)
    },
  )

  alone('shows its key to nobody, and its reports to its workspace alone', async () => {
    const text = await (await ask(alice, 'GET', 'relays')).text()
    expect(text).toContain(KEY.slice(-4))
    expect(text).not.toContain(KEY)
    const { rows } = await database.pool.query('select sealed from relay')
    expect(JSON.stringify(rows)).not.toContain(KEY)
    expect(await reportsOf(charlie)).toEqual([])
    expect((await relayOf(charlie, 'abuseipdb')).settings).toBeNull()
    expect((await ask(charlie, 'POST', 'relays/abuseipdb/test')).status).toBe(404)
  })

  alone('pauses as the service asks, and stops when the key is rejected', async () => {
    services.answer = (_request, response) => void response.writeHead(429, { 'retry-after': '1800' }).end('{}') // prettier-ignore
    await report(alice, '9.1.2.1')
    await send()
    await send()
    expect(services.requests).toHaveLength(1)
    const { pausedUntil } = await relayOf(alice, 'abuseipdb')
    const minutes = (Date.parse(pausedUntil ?? '') - deps.clock()) / 60_000
    expect([minutes > 29, minutes <= 30]).toEqual([true, true])
    ahead += 31 * 60_000
    services.answer = (_request, response) => void response.writeHead(401).end('{"errors":[{"detail":"Authentication failed."}]}') // prettier-ignore
    await send()
    await send()
    expect(services.requests).toHaveLength(2)
    expect(await relayOf(alice, 'abuseipdb')).toMatchObject({ problem: 'Authentication failed.', waiting: 1 }) // prettier-ignore
    const alerts = await (await portreeve.request('/api/v1/alerts', { token: alice.token })).text()
    expect(alerts).toContain('Reports are no longer relayed to AbuseIPDB')
    const test = await ask(alice, 'POST', 'relays/abuseipdb/test')
    expect([test.status, await test.text()]).toEqual([422, expect.stringContaining('Authentication failed.')]) // prettier-ignore
    services.answer = acceptAll
    await relayTo(alice, 'abuseipdb', { key: KEY })
    expect((await ask(alice, 'POST', 'relays/abuseipdb/test')).status).toBe(200)
    await send()
    expect((await reportsOf(alice))[0]).toMatchObject({ address: '9.1.2.1', state: 'sent' })
  })

  alone('records why a report was rejected, and tries others again later', async () => {
    services.answer = ({ form }, response) => {
      const status = form['ip'] === '9.1.3.1' ? 422 : form['ip'] === '9.1.3.2' ? 503 : 429
      response.writeHead(status).end(JSON.stringify({ errors: [{ detail: status === 429 ? 'You can only report the same IP address (`9.1.3.3`) once in 15 minutes.' : 'No.' }] })) // prettier-ignore
    }
    await report(alice, '9.1.3.1')
    await send()
    await report(alice, '9.1.3.3')
    await send()
    await report(alice, '9.1.3.2')
    await send()
    expect((await reportsOf(alice)).slice(0, 3)).toMatchObject([
      { address: '9.1.3.2', state: 'waiting', reason: 'No.' },
      { address: '9.1.3.3', state: 'waiting', reason: 'The address was reported just before.' },
      { address: '9.1.3.1', state: 'rejected', reason: 'No.' },
    ])
    services.answer = acceptAll
    ahead += 16 * 60_000
    await send()
    expect((await reportsOf(alice)).slice(0, 2).map(({ state }) => state)).toEqual(['sent', 'sent'])
  })

  alone('never sends a report twice after a crash', async () => {
    await report(alice, '9.1.4.1')
    await report(alice, '9.1.4.2')
    // What a process leaves that is killed before and after the service got the report.
    await database.pool.query(
      `update relayed_report set state = 'sending', attempts = 1,
        handed_over_at = case when address = '9.1.4.2' then now() end where address in ('9.1.4.1', '9.1.4.2')`,
    )
    await send()
    expect(services.requests.map(({ form }) => form['ip'])).toEqual(['9.1.4.1'])
    const [second, first] = await reportsOf(alice)
    expect([first, second]).toMatchObject([{ state: 'sent' }, { state: 'uncertain' }])
  })

  alone('keeps to the limit of a day, and gives every workspace its turn', async () => {
    const { id } = (await database.pool.query<{ id: string }>('select id from relay')).rows[0] ?? { id: '' } // prettier-ignore
    await database.pool.query(
      `insert into relayed_report (relay_id, address, services, count, reported_at, due_at, state, ended_at)
       select $1, '20.0.0.0'::inet + n, '{ssh}', 1, $2, $2,
         case when n <= 990 then 'sent' else 'waiting' end, case when n <= 990 then $2::timestamptz end
       from generate_series(1, 1030) n`,
      [id, new Date(deps.clock())],
    )
    await relayTo(bob, 'abuseipdb', { key: KEY })
    await report(bob, '9.1.5.1')
    await send()
    const order = services.requests.map(({ form }) => form['ip'])
    expect(order.indexOf('9.1.5.1')).toBeLessThan(20)
    const relay = await relayOf(alice, 'abuseipdb')
    const { rows } = await database.pool.query(
      `select count(*)::int as today from relayed_report where relay_id = $1 and state in ('sent', 'uncertain')
        and ended_at >= date_trunc('day', $2::timestamptz, 'UTC')`,
      [id, new Date(deps.clock())],
    )
    expect(rows).toEqual([{ today: 1_000 }])
    expect(relay.waiting).toBeGreaterThan(20)
    expect(relay.pausedUntil).toMatch(/T00:00:00\.000Z$/)
  })
})

describe('relays to other services', () => {
  alone('send blocklist.de the facts of a report in place of logs', async () => {
    await relayTo(bob, 'blocklist-de', { account: 'server@example.com', key: 'abc123' })
    expect((await ask(bob, 'POST', 'relays/blocklist-de/test')).status).toBe(200)
    await report(bob, '9.2.1.1', { port: 22, count: 7 })
    await send()
    const sent = services.requests.find(({ path, form }) => path.startsWith('/en/') && form['ip'] === '9.2.1.1') // prettier-ignore
    expect(sent?.form).toEqual({ server: 'server@example.com', apikey: 'abc123', ip: '9.2.1.1', service: 'ssh', format: 'json', logs: expect.stringMatching(/^\S+Z 9\.2\.1\.1: 7 events on ssh, port 22\n$/) }) // prettier-ignore
    services.answer = (_request, response) => void response.end('{"status":"error","error":{"apikey":"Wrong API key."}}') // prettier-ignore
    await report(bob, '9.2.1.2')
    await send()
    expect((await relayOf(bob, 'blocklist-de')).problem).toBe('Wrong API key.')
  })

  alone('mail reports to DShield together, at most once an hour', async () => {
    await relayTo(charlie, 'dshield', { account: '12345', key: 'abcdefgh1234' })
    const { token } = (await (await ask(charlie, 'POST', 'tokens', {})).json()) as { token: string }
    tokens.set(charlie, token)
    expect((await ask(charlie, 'POST', 'relays/dshield/test')).status).toBe(200)
    expect(sink.mails.at(-1)?.to?.[0]?.address).toBe(charlie.email)
    const before = sink.mails.length
    await report(charlie, '9.3.1.1', { port: 2222, count: 9 })
    await report(charlie, '2a00:1450::5')
    await send()
    await report(charlie, '9.3.1.2')
    await send()
    expect(sink.mails).toHaveLength(before + 1)
    const mail = sink.mails.at(-1)
    expect(mail?.to?.[0]?.address).toBe('reports@dshield.org')
    expect(mail?.subject).toMatch(/^FORMAT DSHIELD USERID 12345 TZ \+00:00 AUTHKEY abcdefgh1234 PORTREEVE /) // prettier-ignore
    const lines =
      mail?.text
        ?.trim()
        .split('\n')
        .map((line) => line.split('\t')) ?? []
    expect(lines.map((fields) => fields.slice(1, 8))).toEqual(
      expect.arrayContaining([
        ['12345', '9', '9.3.1.1', '???', '???', '2222', 'TCP'],
        ['12345', '1', '2a00:1450::5', '???', '???', '22', 'TCP'],
      ]),
    )
    ahead += 61 * 60_000
    await send()
    expect(sink.mails).toHaveLength(before + 2)
    expect((await ask(charlie, 'DELETE', 'relays/dshield')).status).toBe(200)
    expect(await reportsOf(charlie)).toEqual([])
  })
})
