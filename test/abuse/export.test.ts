import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { DAY, HOUR, MINUTE, START } from './evidence.ts'
import { startAbuse, type Person, type AbuseTest } from './module.ts'

let database: FreshDatabase
let portreeve: AbuseTest
let other: AbuseTest
let admin: Person
let charlie: Person
let now = START

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAbuse(database.url, () => now)
  other = await startAbuse(database.url, () => now)
  admin = await portreeve.addPerson('Alice', true)
  charlie = await portreeve.addPerson('Charlie')
})
afterAll(async () => {
  await portreeve.stop()
  await other.stop()
  await database.drop()
})

/** Sensors count fully from the start: two in two autonomous systems list an address. */
async function list(ip: string, service = 'ssh'): Promise<void> {
  for (const from of ['94.1.1.1', '95.1.1.1'])
    await portreeve.report(from, ip, { service, count: 50 })
  expect(await portreeve.check(ip)).toMatchObject({ listed: true })
}

/**
 * Runs the list publisher once with its interval, then waits until the other instance has been
 * notified.
 */
async function publish(): Promise<void> {
  now += 10_000
  await portreeve.keep()
  const version = await portreeve.pool.query(
    'select max(version)::int as v from abuse_snapshot where ready_at is not null',
  )
  await expect.poll(() => other.abuse.exports.current().version).toBe(version.rows[0].v)
  await expect.poll(() => portreeve.abuse.exports.current().version).toBe(version.rows[0].v)
}

const plain = async (at = portreeve, query = '') => (await at.request(`export${query}`)).text()

describe('the exported list', () => {
  it('is empty and well formed before there is one', async () => {
    const answer = await portreeve.request('export')
    expect([answer.status, answer.headers.get('content-type'), await answer.text()]).toEqual([
      200,
      'text/plain; charset=utf-8',
      '',
    ])
    expect(await portreeve.answerTo('export?format=json')).toMatchObject({
      success: true,
      data: { count: 0, ips: [] },
    })
  })

  it('contains exactly the listed addresses, in order, IPv6 by /64, in every instance', async () => {
    for (const cidr of ['94.1.1.0/24', '95.1.1.1/32'])
      expect(
        (await portreeve.request('sensors', { token: admin.token, body: { cidr } })).status,
      ).toBe(201)
    await expect.poll(() => portreeve.abuse.ranges.is('sensor', '95.1.1.1')).toBe(true)
    await list('81.2.69.160')
    await list('9.1.1.1', 'imap')
    await list('2606:4700:0:1::7')
    await portreeve.report('90.1.1.1', '9.1.1.9')
    await publish()
    const expected = '9.1.1.1\n81.2.69.160\n2606:4700:0:1::/64\n'
    expect([await plain(), await plain(other)]).toEqual([expected, expected])
    expect(await plain(portreeve, '?service=imap')).toBe('9.1.1.1\n')
    expect(await plain(portreeve, '?service=sshd')).toBe('81.2.69.160\n2606:4700:0:1::/64\n')
    expect(await plain(portreeve, '?service=mysql')).toBe('')
    const { data } = await portreeve.answerTo<{ data: { count: number; ips: object[] } }>(
      'export?format=json',
    )
    expect([data.count, data.ips[0]]).toEqual([
      3,
      {
        ip: '9.1.1.1',
        score: expect.any(Number),
        confidenceLevel: 'medium',
        services: ['imap'],
        lastReportedAt: '2026-11-21T12:00:00.000Z',
      },
    ])
  })

  it('is sent once: 304 while nothing has changed, for both encodings', async () => {
    const answer = await portreeve.request('export')
    const etag = answer.headers.get('etag') ?? ''
    expect(etag).toMatch(/^"[\w-]{22}-gzip"$/)
    expect(answer.headers.get('vary')).toBe('accept-encoding')
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const again = await other.request('export', { headers: { 'if-none-match': known } })
      expect([known, again.status, again.headers.get('etag'), await again.text()]).toEqual([
        known,
        304,
        etag,
        '',
      ])
    }
    expect(
      (await portreeve.request('export', { headers: { 'if-none-match': '"x"' } })).status,
    ).toBe(200)
    await portreeve.report('90.1.1.1', '9.1.1.8')
    await publish()
    expect((await portreeve.request('export', { headers: { 'if-none-match': etag } })).status).toBe(
      304,
    )
    await list('9.1.1.2')
    await publish()
    expect((await portreeve.request('export', { headers: { 'if-none-match': etag } })).status).toBe(
      200,
    )
  })

  it('is stored compressed, and decompressed for clients without compression', async () => {
    const whole = await portreeve.request('export', { headers: { 'accept-encoding': 'identity' } })
    expect(whole.headers.get('content-encoding')).toBeNull()
    const text = await whole.text()
    expect(whole.headers.get('content-length')).toBe(String(text.length))
    expect(whole.headers.get('etag')).not.toContain('gzip')
    const refused = await portreeve.request('export', {
      headers: { 'accept-encoding': 'gzip;q=0' },
    })
    expect(refused.headers.get('content-encoding')).toBeNull()
    const { rows } = await portreeve.pool.query(
      "select gzip from abuse_snapshot_file where format = 'plain' order by version",
    )
    expect(gunzipSync(rows.at(-1).gzip).toString()).toBe(text)
    expect(await plain()).toBe(text)
  })

  it('returns the changes since a version', async () => {
    const version = Number((await portreeve.request('export')).headers.get('x-list-version'))
    expect(await portreeve.answerTo(`export?since=${version}`)).toEqual({
      success: true,
      data: { version, complete: false, added: [], removed: [] },
    })
    await list('9.1.1.3')
    await publish()
    const body = { ip: '9.1.1.3', reason: 'It is mended.' }
    expect((await portreeve.request('appeals', { from: '9.1.1.3', body })).status).toBe(201)
    await list('9.1.1.4')
    await publish()
    const { data } = await other.answerTo<{ data: { added: string[]; removed: string[] } }>(
      `export?since=${version}`,
    )
    expect(data).toEqual({
      version: version + 2,
      complete: false,
      added: ['9.1.1.4'],
      removed: ['9.1.1.3'],
    })
    const all = (await plain()).trimEnd().split('\n')
    expect(all).toContain('9.1.1.4')
    expect(await portreeve.answerTo('export?since=999')).toMatchObject({
      data: { complete: true, added: all, removed: [] },
    })
    for (const query of [
      'since=-1',
      'since=x',
      'since=1&service=ssh',
      'format=exe',
      'service=nothing',
    ])
      expect([query, (await portreeve.request(`export?${query}`)).status]).toEqual([query, 400])
  })

  it('drops an address when its listing expires without further reports', async () => {
    now += 7 * DAY
    expect(await portreeve.check('9.1.1.4')).toMatchObject({
      listed: false,
      listingState: 'delisted',
    })
    await publish()
    expect(await plain()).toBe('')
  })

  it('contains no shared or allowlisted address, even if it is marked later', async () => {
    await list('9.1.2.1')
    await list('9.1.2.2')
    await list('9.1.2.3')
    await publish()
    expect(await plain()).toBe('9.1.2.1\n9.1.2.2\n9.1.2.3\n')
    const add = (body: object) => portreeve.request('whitelist', { token: admin.token, body })
    expect((await add({ cidr: '9.1.2.1', label: 'resolver' })).status).toBe(201)
    expect((await add({ cidr: '9.1.2.2/32', kind: 'shared' })).status).toBe(201)
    await publish()
    expect(await plain()).toBe('9.1.2.3\n')
    expect(await portreeve.check('9.1.2.1')).toMatchObject({
      listed: false,
      listingState: 'whitelisted',
      score: 0,
    })
    expect(await portreeve.report('90.1.1.1', '9.1.2.1')).toEqual({
      success: true,
      deduped: false,
      ignored: true,
      ip: '9.1.2.1',
      service: 'ssh',
      category: 'bruteforce',
      score: 0,
      listingState: 'whitelisted',
      confidenceLevel: 'none',
    })
  })

  it('is put on hold when it changes too much at once, until an administrator approves it', async () => {
    const before = await plain()
    await portreeve.pool.query(`
      insert into abuse_address (address, state, score, confidence, evidence, services, networks, total_reports,
        first_reported_at, last_reported_at, due_at, revision)
      select ('11.1.' || (n >> 8) || '.' || (n & 255))::inet, 'listed', 90, 'high', '[]', '{ssh}', 3, 3, now(), now(),
        '2099-01-01', 1 from generate_series(0, 1999) as n`)
    await publish()
    expect(await plain()).toBe(before)
    const hold = 'export/hold'
    expect((await portreeve.request(hold)).status).toBe(401)
    expect((await portreeve.request(hold, { token: charlie.token })).status).toBe(403)
    const approve = (by: Person) =>
      portreeve.request(`${hold}/approve`, { method: 'POST', token: by.token })
    expect((await approve(charlie)).status).toBe(403)
    expect(await portreeve.answerTo(hold, { token: admin.token })).toMatchObject({
      data: { countBefore: 1, countAfter: 2001, approved: false },
    })
    expect((await approve(admin)).status).toBe(200)
    await publish()
    expect((await portreeve.request('export')).headers.get('x-list-count')).toBe('2001')
    expect((await plain()).split('\n')).toHaveLength(2002)
    expect(await portreeve.answerTo(hold, { token: admin.token })).toMatchObject({ data: null })
    expect((await approve(admin)).status).toBe(409)
  })

  it('never contains special-purpose or exempt addresses, even if their rows are listed', async () => {
    await portreeve.pool.query(`
      insert into abuse_address (address, state, score, confidence, evidence, services, networks, total_reports,
        first_reported_at, last_reported_at, due_at, revision)
      select address::inet, 'listed', 90, 'high', '[]', '{ssh}', 3, 3, now(), now(), '2099-01-01', 1
      from unnest(array['10.0.0.1', '127.0.0.1', '2001:db8::/64', '9.1.2.1']) as address
      on conflict (address) do update set state = 'listed'`)
    await publish()
    const addresses = (await plain()).split('\n')
    for (const never of ['10.0.0.1', '127.0.0.1', '2001:db8::/64', '9.1.2.1'])
      expect(addresses).not.toContain(never)
  })
})

describe('the list publisher', () => {
  it('is made by one instance at a time, at the interval', async () => {
    await list('9.1.3.1')
    await publish()
    const { version } = portreeve.abuse.exports.current()
    await list('9.1.3.2')
    await Promise.all([portreeve.keep(), other.keep()])
    expect(
      (await portreeve.pool.query('select max(version)::int as v from abuse_snapshot')).rows[0].v,
    ).toBe(version)
    await publish()
    expect(portreeve.abuse.exports.current().version).toBe(version + 1)
    now += MINUTE + HOUR
    await Promise.all([portreeve.keep(), other.keep(), portreeve.keep()])
    expect(
      (await portreeve.pool.query('select max(version)::int as v from abuse_snapshot')).rows[0].v,
    ).toBe(version + 1)
  })
})
