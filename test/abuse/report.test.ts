import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { DAY, HOUR, MINUTE, START } from './evidence.ts'
import { startAbuse, type AbuseTest } from './module.ts'

let database: FreshDatabase
let portreeve: AbuseTest
let now = START + 30 * MINUTE

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAbuse(database.url, () => now)
})
afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

/** A source in autonomous system `system` (without a table, a /16 counts as one). */
const from = (system: number, host = 1) => `90.${system}.7.${host}`

/** An address that no other test uses. */
let used = 0
const fresh = () => `9.1.${(used += 1) >> 8}.${used & 255}`

const alertOf = (ip: string) => ({
  scenario: 'crowdsecurity/ssh-bf',
  source: { scope: 'Ip', value: ip, ip },
  events_count: 5,
  start_at: new Date(now).toISOString(),
  stop_at: new Date(now).toISOString(),
  simulated: false,
})

describe('a report', () => {
  it('is answered as specified', async () => {
    const ip = fresh()
    const answer = await portreeve.request('report', {
      from: from(1),
      body: { ip, service: 'sshd', port: 22, count: 5 },
    })
    expect(answer.status).toBe(200)
    expect(await answer.json()).toEqual({
      success: true,
      deduped: false,
      ip,
      service: 'ssh',
      category: 'bruteforce',
      score: 21.2,
      listingState: 'watchlist',
      confidenceLevel: 'low',
    })
  })

  it('requires an address and a service, and rejects values out of range, naming each', async () => {
    const ip = fresh()
    const cases: [object, string[]][] = [
      [{}, ['ip', 'service']],
      [{ ip, service: 'nothing' }, ['service']],
      [{ ip: '10.0.0.1', service: 'ssh' }, ['ip']],
      [{ ip: '::ffff:10.0.0.1', service: 'ssh' }, ['ip']],
      [{ ip, service: 'ssh', port: '22', count: 0 }, ['port', 'count']],
      [{ ip, service: 'ssh', port: 65_536, count: 100_001 }, ['port', 'count']],
      [{ ip, service: 'ssh', count: 1.5 }, ['count']],
      [{ ip: 8, service: ['ssh'] }, ['ip', 'service']],
    ]
    for (const [body, paths] of cases) {
      const answer = await portreeve.request('report', { body })
      const { code, details } = (await answer.json()) as {
        code: string
        details: { path: string }[]
      }
      expect([body, answer.status, code, details.map(({ path }) => path)]).toEqual([
        body,
        400,
        'invalid_request',
        paths,
      ])
    }
    expect((await portreeve.check(ip))['listingState']).toBe('none')
  })

  it('of an IPv4 address in IPv6 is about that address, and IPv6 is known by its /64', async () => {
    const ip = fresh()
    expect(await portreeve.report(from(1), `::ffff:${ip}`)).toMatchObject({ ip })
    expect(await portreeve.check(ip)).toMatchObject({ totalReports: 1 })
    await portreeve.report(from(1), '2606:4700:0:1::AB')
    expect(await portreeve.check('2606:4700:0:1:ffff::1')).toMatchObject({
      totalReports: 1,
      network: '2606:4700:0:1::/64',
    })
    expect(await portreeve.check('2606:4700:0:2::ab')).toMatchObject({ totalReports: 0 })
  })

  it('counts once in ten minutes for one address and service, from whomever', async () => {
    const ip = fresh()
    expect(await portreeve.report(from(1), ip)).toMatchObject({ deduped: false })
    expect(await portreeve.report(from(1), ip)).toMatchObject({ deduped: true })
    expect(await portreeve.report(from(2), ip)).toMatchObject({ deduped: true })
    expect(await portreeve.report(from(1), ip, { service: 'imap' })).toMatchObject({
      deduped: false,
    })
    expect(await portreeve.check(ip)).toMatchObject({
      totalReports: 2,
      services: [
        { service: 'imap', count: 1 },
        { service: 'ssh', count: 1 },
      ],
    })
    now += 10 * MINUTE
    expect(await portreeve.report(from(2), ip)).toMatchObject({ deduped: false })
    expect(await portreeve.check(ip)).toMatchObject({ totalReports: 3 })
  })

  it('of a new network corroborates, even if it is a duplicate', async () => {
    const ip = fresh()
    const scores = []
    for (let system = 1; system <= 4; system++)
      scores.push((await portreeve.report(from(system), ip))['score'])
    expect(scores).toEqual([...scores].toSorted((a, b) => Number(a) - Number(b)))
    expect(new Set(scores).size).toBe(4)
    expect(await portreeve.check(ip)).toMatchObject({
      totalReports: 1,
      distinctReporters: 4,
      confidenceLevel: 'medium',
    })
  })

  it('of its own network, or of a reporter that is listed itself, has no weight', async () => {
    expect(await portreeve.report('9.2.2.1', '9.2.2.2')).toMatchObject({
      score: 0,
      listingState: 'observed',
    })
    const bad = fresh()
    for (let system = 1; system <= 6; system++) await portreeve.report(from(system), bad)
    now += HOUR
    expect(await portreeve.report(from(7), bad)).toMatchObject({ listingState: 'listed' })
    const other = fresh()
    expect(await portreeve.report(bad, other)).toMatchObject({
      deduped: false,
      score: 0,
      listingState: 'observed',
    })
  })

  it('without a token counts exactly as one with a token', async () => {
    const alice = await portreeve.addPerson('Alice')
    const { token } = await portreeve.answerTo<{ token: string }>('tokens', {
      token: alice.token,
      body: {},
    })
    const [anonymous, known] = [fresh(), fresh()]
    const without = await portreeve.report(from(1), anonymous, { count: 20 })
    const withToken = await portreeve.report(
      from(1),
      known,
      { count: 20 },
      { 'x-report-token': token },
    )
    expect({ ...withToken, ip: '' }).toEqual({ ...without, ip: '', server: '' })
  })

  it('names the server of its token, wherever the token is', async () => {
    const bob = await portreeve.addPerson('Bob')
    const body = { label: 'mail-1' }
    const { token } = await portreeve.answerTo<{ token: string }>('tokens', {
      token: bob.token,
      body,
    })
    const ways: [Record<string, string>, string][] = [
      [{ 'x-report-token': token }, ''],
      [{ authorization: `Bearer ${token}` }, ''],
      [{ authorization: `bearer  ${token}` }, ''],
      [{}, `?token=${token}`],
      [{ 'x-report-token': '' }, `?token=${token}`],
    ]
    for (const [headers, query] of ways) {
      for (const path of ['report', 'report/bulk', 'report/crowdsec']) {
        const single = { ip: fresh(), service: 'ssh' }
        const sent = path === 'report/crowdsec' ? [alertOf(fresh())] : single
        const response = await portreeve.request(path + query, {
          from: from(1),
          body: sent,
          headers,
        })
        const answer = (await response.json()) as { data?: object }
        expect([path, { ...answer, ...answer.data }]).toMatchObject([path, { server: 'mail-1' }])
      }
    }
    const wrong = await portreeve.report(from(1), fresh(), {}, { authorization: 'Bearer wrong' })
    expect(wrong).toMatchObject({ success: true, warning: expect.stringContaining('anonymous') })
    expect(wrong).not.toHaveProperty('server')
  })

  it('with an unknown token is accepted as anonymous, and reports that', async () => {
    for (const token of ['ar_' + 'x'.repeat(32), 'nonsense', 'ar_']) {
      const ip = fresh()
      const answer = await portreeve.report(from(1), ip, {}, { 'x-report-token': token })
      expect(answer).toMatchObject({
        success: true,
        deduped: false,
        warning: expect.stringContaining('anonymous'),
      })
      expect(await portreeve.check(ip)).toMatchObject({ totalReports: 1 })
    }
  })
})

describe('the public information on an address', () => {
  it('names no reporter, no exact time, and calls a network otherwise for each address', async () => {
    const [one, two] = [fresh(), fresh()]
    for (const ip of [one, two]) await portreeve.report(from(5, 99), ip, { count: 3, port: 22 })
    const [first, second] = [await portreeve.check(one), await portreeve.check(two)]
    const text = JSON.stringify([first, second])
    for (const secret of ['90.5', from(5, 99)]) expect(text).not.toContain(secret)
    expect(first).toMatchObject({
      firstReportedAt: new Date(Math.floor(now / HOUR) * HOUR).toISOString(),
      evidence: [
        { service: 'ssh', port: 22, count: 3, at: expect.stringMatching(/:00:00\.000Z$/) },
      ],
    })
    const reporterIn = (told: Record<string, unknown>) =>
      (told['evidence'] as { reporter: string }[])[0]?.reporter
    expect(reporterIn(first)).not.toBe(reporterIn(second))
    const { rows } = await database.pool.query(
      'select a::text, b.source, c.network, c.origin from abuse_address a, abuse_rate b, abuse_network c limit 100',
    )
    expect(JSON.stringify(rows)).not.toContain('90.5.7')
  })

  it('is nothing where nothing was reported, and 400 where nothing could be', async () => {
    expect(await portreeve.check('9.9.9.9')).toEqual({
      ip: '9.9.9.9',
      network: '9.9.9.9',
      listed: false,
      listingState: 'none',
      score: 0,
      confidenceLevel: 'none',
      totalReports: 0,
      distinctReporters: 0,
      publicFeeds: [],
      peers: [],
      firstReportedAt: null,
      lastReportedAt: null,
      services: [],
      evidence: [],
    })
    for (const query of ['', '?ip=', '?ip=10.0.0.1', '?ip=x', '?ip=9.9.9.9&ip=1.1.1.1'])
      expect([query, (await portreeve.request(`check${query}`)).status]).toEqual([query, 400])
  })

  it('fades between reports, and expires', async () => {
    const ip = fresh()
    await portreeve.report(from(1), ip, { count: 20 })
    const before = Number((await portreeve.check(ip))['score'])
    now += 7 * DAY
    const after = Number((await portreeve.check(ip))['score'])
    expect([after > 0, after < before * 0.6]).toEqual([true, true])
    now += 24 * DAY
    expect(await portreeve.check(ip)).toMatchObject({
      listingState: 'expired',
      score: 0,
      evidence: [],
    })
  })
})

describe('the rate of a source', () => {
  it('is 120 requests in five minutes; further ones are not stored', async () => {
    const source = '91.1.1.1'
    const first = await portreeve.request('report', {
      from: source,
      body: { ip: fresh(), service: 'ssh' },
    })
    expect([first.headers.get('ratelimit-policy'), first.headers.get('ratelimit')]).toEqual([
      '"reports";q=120;w=300',
      '"reports";r=119;t=300',
    ])
    now += MINUTE
    const asked = Array.from({ length: 130 }, () => {
      const ip = fresh()
      return portreeve
        .request('report', { from: source, body: { ip, service: 'ssh' } })
        .then((answer) => ({ ip, answer }))
    })
    const answers = await Promise.all(asked)
    const refused = answers.filter(({ answer }) => answer.status === 429)
    expect(refused).toHaveLength(11)
    const [one] = refused
    expect(one?.answer.headers.get('retry-after')).toBe('240')
    expect(one?.answer.headers.get('ratelimit')).toBe('"reports";r=0;t=240')
    expect(await one?.answer.json()).toMatchObject({ success: false, code: 'rate_limited' })
    for (const { ip } of refused) expect((await portreeve.check(ip))['listingState']).toBe('none')
    expect(
      (
        await portreeve.request('report', {
          from: '91.1.1.2',
          body: { ip: fresh(), service: 'ssh' },
        })
      ).status,
    ).toBe(200)
    now += 4 * MINUTE
    expect(
      (await portreeve.request('report', { from: source, body: { ip: fresh(), service: 'ssh' } }))
        .status,
    ).toBe(200)
  })

  it('is one for all of an IPv6 /64', async () => {
    const send = (source: string) =>
      portreeve.request('report', { from: source, body: { ip: fresh(), service: 'ssh' } })
    for (let i = 0; i < 120; i++)
      expect((await send(`2a01:1:1:1::${i.toString(16)}`)).status).toBe(200)
    expect((await send('2a01:1:1:1:ffff::1')).status).toBe(429)
    expect((await send('2a01:1:1:2::1')).status).toBe(200)
  })
})

describe('many reports in one request', () => {
  it('are accepted and counted, and invalid rows are named', async () => {
    const [one, two] = [fresh(), fresh()]
    const rows = [one, two, one].map((ip) => JSON.stringify({ ip, service: 'ssh' }))
    const answer = await portreeve.request('report/bulk', {
      from: '92.1.1.1',
      body: [...rows, 'x'].join('\n'),
    })
    expect([answer.status, answer.headers.get('ratelimit')]).toEqual([200, '"reports";r=119;t=300'])
    expect(await answer.json()).toEqual({
      success: true,
      data: {
        accepted: 2,
        deduped: 1,
        ignored: 0,
        rejected: [{ line: 4, error: 'The line is not valid JSON.' }],
      },
    })
    expect(await portreeve.check(two)).toMatchObject({ totalReports: 1 })
  })

  it('may be AbuseIPDB’s CSV, a thousand of them', async () => {
    const date = new Date(now).toISOString()
    const rows = Array.from(
      { length: 1_000 },
      () => `${fresh()},"18,22",${date},"root, many times"`,
    )
    const body = ['IP,Categories,ReportDate,Comment', ...rows].join('\n')
    const answer = await portreeve.request('report/bulk', {
      body,
      headers: { 'content-type': 'text/csv' },
    })
    expect(await answer.json()).toMatchObject({ data: { accepted: 1_000, rejected: [] } })
  })

  it('are rejected when empty, too many or of another type', async () => {
    for (const body of ['', '{"ip":"9.9.9.9","service":"ssh"}\n'.repeat(1_001)])
      expect((await portreeve.request('report/bulk', { body })).status).toBe(400)
    const headers = { 'content-type': 'image/png' }
    expect((await portreeve.request('report/bulk', { body: 'x', headers })).status).toBe(415)
  })
})

describe('the numbers of the network', () => {
  it('count accepted reports', async () => {
    type Stats = Record<string, number> & { byService: { service: string; count: number }[] }
    now += MINUTE
    const read = async () => (await portreeve.answerTo<{ data: Stats }>('stats')).data
    const before = await read()
    const ip = fresh()
    await portreeve.report(from(1), ip, { service: 'mysql' })
    await portreeve.report(from(2), ip, { service: 'mysql' })
    await portreeve.report('93.3.3.3', fresh(), { service: 'mysql', count: 50 })
    now += 15_000
    const after = await read()
    for (const name of ['totalReports', 'reports24h', 'reports7d'])
      expect([name, Number(after[name]) - Number(before[name])]).toEqual([name, 2])
    expect(after.byService.find(({ service }) => service === 'mysql')?.count).toBe(2)
    expect(after.byService.reduce((sum, { count }) => sum + count, 0)).toBe(after['totalReports'])
    expect(after['byGroup']).toContainEqual({ group: 'databases', count: 2 })
    const { rows } = await database.pool.query(
      "select count(*)::int as n from abuse_address where state = 'watchlist'",
    )
    expect(after['watchlistIps']).toBe(rows[0].n)
  })

  it('come with a list of the services that can be reported', async () => {
    const { data } = await portreeve.answerTo<{
      data: { services: { id: string }[]; groups: string[] }
    }>('report')
    expect(data.services.length).toBeGreaterThan(100)
    expect(data.services.find(({ id }) => id === 'ssh')).toEqual({
      id: 'ssh',
      label: 'SSH login brute force',
      group: 'server-access',
      defaultPorts: [22],
    })
    expect(data.groups).toContain('databases')
  })
})
