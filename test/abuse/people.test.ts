import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { abuseJobs } from '../../src/abuse/abuse-jobs.ts'
import { createLog } from '../../src/log.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { DAY, HOUR, MINUTE, START } from './evidence.ts'
import { startAbuse, type Person, type AbuseTest } from './module.ts'
import { jobContext } from '../jobs/context.ts'

type Made = { token: string; statsUrl: string; id: string }

let database: FreshDatabase
let portreeve: AbuseTest
let alice: Person
let bob: Person
let charlie: Person
let now = START
const log = createLog('silent')

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAbuse(database.url, () => now)
  alice = await portreeve.addPerson('Alice', true)
  bob = await portreeve.addPerson('Bob')
  charlie = await portreeve.addPerson('Charlie')
})
afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

const make = (by: Person, body: object = {}) =>
  portreeve.answerTo<Made>('tokens', { token: by.token, body })
const metricsOf = async (token: string) =>
  (await portreeve.answerTo<{ metrics: Record<string, unknown> }>(`tokens/${token}`)).metrics

describe('a report token', () => {
  it('is made by an account and shown once', async () => {
    const answer = await portreeve.request('tokens', { token: bob.token, body: { label: 'web-1' } })
    const made = (await answer.json()) as Made
    expect(answer.status).toBe(201)
    expect(made).toMatchObject({
      success: true,
      label: 'web-1',
      statsUrl: `/api/v1/abuse/tokens/${made.token}`,
    })
    expect(made.token).toMatch(/^ar_[A-Za-z0-9]{32}$/)
    const { rows } = await database.pool.query('select * from abuse_token')
    expect(JSON.stringify(rows)).not.toContain(made.token.slice(3, -4))
    expect((await portreeve.request('tokens', { body: {} })).status).toBe(401)
    expect(
      (await portreeve.request('tokens', { token: bob.token, body: { label: 'a\nb' } })).status,
    ).toBe(400)
    expect((await portreeve.request('tokens', { token: bob.token, method: 'POST' })).status).toBe(
      201,
    )
  })

  it('shows its holder the reports made with it, and no others', async () => {
    const [bobs, charlies] = [await make(bob), await make(charlie)]
    const sent = { 'x-report-token': bobs.token }
    await portreeve.report('90.1.1.1', '9.8.4.4', { count: 50 }, sent)
    await portreeve.report('90.1.1.1', '9.8.4.4', { count: 50 }, sent)
    await portreeve.report('90.1.1.1', '9.8.4.5', { service: 'imap' }, sent)
    const row = JSON.stringify({ ip: '9.8.4.6', service: 'imap' })
    await portreeve.request('report/bulk', { from: '90.1.1.1', body: row, headers: sent })
    expect(await metricsOf(bobs.token)).toEqual({
      totalReports: 3,
      last7d: 3,
      currentlyListedFromMyReports: 0,
      byService: [
        { service: 'imap', count: 2 },
        { service: 'ssh', count: 1 },
      ],
    })
    expect(await metricsOf(charlies.token)).toMatchObject({ totalReports: 0, byService: [] })
    for (let system = 2; system <= 6; system++)
      await portreeve.report(`90.${system}.1.1`, '9.8.4.4', { count: 50 })
    now += HOUR
    await portreeve.report('90.7.1.1', '9.8.4.4', { count: 50 })
    expect(await portreeve.check('9.8.4.4')).toMatchObject({ listed: true })
    expect(await metricsOf(bobs.token)).toMatchObject({ currentlyListedFromMyReports: 1 })
    const figuresOf = async (by: Person, id: string) => {
      const { data } = await portreeve.answerTo<{ data: { id: string }[] }>('tokens', {
        token: by.token,
      })
      return data.find((token) => token.id === id)
    }
    const figures = { totalReports: 3, last7d: 3, currentlyListedFromMyReports: 1 }
    expect(await figuresOf(bob, bobs.id)).toMatchObject(figures)
    expect(await figuresOf(charlie, charlies.id)).toMatchObject({ totalReports: 0, last7d: 0 })
    now += 8 * DAY
    expect(await metricsOf(bobs.token)).toMatchObject({ totalReports: 3, last7d: 0 })
    expect(await figuresOf(bob, bobs.id)).toMatchObject({ totalReports: 3, last7d: 0 })
  })

  it('with many reports has a count of up to an hour ago, which a job renews', async () => {
    const { token, id } = await make(bob)
    await portreeve.report('90.2.1.1', '9.8.4.4', {}, { 'x-report-token': token })
    const { rows } = await database.pool.query<{ state: string }>(
      `update abuse_address set state = 'listed' where address = '9.8.4.4' returning state`,
    )
    expect(rows).toHaveLength(1)
    const countedBefore = (minutes: number, count: number) =>
      database.pool.query(
        `update abuse_token set listed_count = $2, listed_counted_at = now() - $3 * interval '1 minute' where id = $1`,
        [id, count, minutes],
      )
    const shown = async () => {
      const { data } = await portreeve.answerTo<{ data: Record<string, unknown>[] }>('tokens', {
        token: bob.token,
      })
      const listed = [await metricsOf(token), data.find((one) => one['id'] === id)]
      return listed.map((figures) => figures?.['currentlyListedFromMyReports'])
    }
    await countedBefore(10, 7)
    expect(await shown()).toEqual([1, 1])
    await database.pool.query(
      'update abuse_token_count set reports = 20001, day = current_date where token_id = $1',
      [id],
    )
    expect(await shown()).toEqual([7, 7])
    await countedBefore(61, 7)
    expect(await shown()).toEqual([1, 1])
    await countedBefore(-5, 7)
    expect(await shown()).toEqual([1, 1])
    await countedBefore(31, 7)
    const job = abuseJobs(portreeve).find(({ name }) => name === 'abuse.token-counts')
    await job?.run({}, jobContext({ log }))
    const { rows: stored } = await database.pool.query(
      `select listed_count, listed_counted_at > now() - interval '1 minute' as fresh from abuse_token where listed_count is not null`,
    )
    expect(stored).toEqual([{ listed_count: 1, fresh: true }])
  })

  it('is revoked only by its owner; Charlie gets 404', async () => {
    const { id, token } = await make(bob)
    const revoke = (by: Person) =>
      portreeve.request(`tokens/${id}`, { method: 'DELETE', token: by.token })
    const listOf = async (by: Person) =>
      (
        await portreeve.answerTo<{ data: { id: string }[] }>('tokens', { token: by.token })
      ).data.map((row) => row.id)
    expect((await revoke(charlie)).status).toBe(404)
    expect([(await listOf(bob)).includes(id), (await listOf(charlie)).includes(id)]).toEqual([
      true,
      false,
    ])
    expect((await revoke(bob)).status).toBe(200)
    expect((await portreeve.request(`tokens/${token}`)).status).toBe(404)
    const report = await portreeve.report('90.9.1.1', '9.8.4.9', {}, { 'x-report-token': token })
    expect(report).toMatchObject({ success: true, warning: expect.any(String) })
  })

  it('that is unknown is not found', async () => {
    for (const token of ['ar_' + 'x'.repeat(32), 'x', '%00', "ar_' or true --"])
      expect([
        token,
        (await portreeve.request(`tokens/${encodeURIComponent(token)}`)).status,
      ]).toEqual([token, 404])
  })
})

describe('the whitelist and the sensors', () => {
  it('are for administrators', async () => {
    for (const path of ['whitelist', 'sensors', 'appeals']) {
      expect([path, (await portreeve.request(path)).status]).toEqual([path, 401])
      expect([path, (await portreeve.request(path, { token: charlie.token })).status]).toEqual([
        path,
        403,
      ])
      expect([path, (await portreeve.request(path, { token: alice.token })).status]).toEqual([
        path,
        200,
      ])
    }
    for (const path of ['whitelist', 'sensors'])
      expect(
        (await portreeve.request(path, { token: charlie.token, body: { cidr: '1.1.1.1' } })).status,
      ).toBe(403)
  })

  it('accept networks and addresses, once each', async () => {
    const add = (cidr: string, path = 'whitelist') =>
      portreeve.request(path, { token: alice.token, body: { cidr } })
    const added = await add('1.1.1.7/24')
    expect([added.status, await added.json()]).toMatchObject([
      201,
      { data: { cidr: '1.1.1.0/24', kind: 'whitelist', label: '' } },
    ])
    expect((await add('1.1.1.0/24')).status).toBe(409)
    expect((await add('1.1.1.0/24', 'sensors')).status).toBe(201)
    expect((await add('2606:4700::/32')).status).toBe(201)
    for (const cidr of [
      '',
      '1.1.1',
      '1.1.1.1/33',
      '010.0.0.1',
      'x/8',
      '1.1/16',
      '0.0.0.0/0',
      '11.0.0.0/7',
      '2000::/3',
    ])
      expect([cidr, (await add(cidr)).status]).toEqual([cidr, 400])
  })

  it('take effect and end immediately', async () => {
    await portreeve.report('90.1.1.1', '1.0.0.1', { count: 20 })
    const body = { cidr: '1.0.0.0/24', label: 'A resolver' }
    const { data } = await portreeve.answerTo<{ data: { id: string } }>('whitelist', {
      token: alice.token,
      body,
    })
    await expect
      .poll(async () => (await portreeve.check('1.0.0.1'))['listingState'])
      .toBe('whitelisted')
    await expect.poll(() => portreeve.abuse.ranges.is('whitelist', '1.0.0.1')).toBe(true)
    expect(await portreeve.report('90.2.1.1', '1.0.0.1')).toMatchObject({
      ignored: true,
      listingState: 'whitelisted',
    })
    const { rows } = await database.pool.query(
      "select cause from abuse_refutation where address = '1.0.0.1'",
    )
    expect(rows).toEqual([{ cause: 'whitelist' }])
    const remove = (by: Person, path = 'whitelist') =>
      portreeve.request(`${path}/${data.id}`, { method: 'DELETE', token: by.token })
    expect((await remove(charlie)).status).toBe(403)
    expect((await remove(alice, 'sensors')).status).toBe(404)
    expect((await remove(alice)).status).toBe(200)
    expect((await remove(alice)).status).toBe(404)
    await expect
      .poll(async () => (await portreeve.check('1.0.0.1'))['listingState'])
      .toBe('watchlist')
  })

  it('include canaries, which look like any address and reveal false reports', async () => {
    const body = { cidr: '1.0.1.1', kind: 'canary' }
    expect((await portreeve.request('whitelist', { token: alice.token, body })).status).toBe(201)
    await expect.poll(() => portreeve.abuse.ranges.is('canary', '1.0.1.1')).toBe(true)
    expect(await portreeve.report('90.2.1.1', '1.0.1.1')).toMatchObject({
      deduped: false,
      listingState: 'observed',
    })
    expect(await portreeve.check('1.0.1.1')).toMatchObject({
      listingState: 'none',
      totalReports: 0,
    })
    const { rows } = await database.pool.query(
      "select cause from abuse_refutation where address = '1.0.1.1'",
    )
    expect(rows).toEqual([{ cause: 'canary' }])
  })

  it('are shown in pages', async () => {
    const { data } = await portreeve.answerTo<{ data: { ranges: object[]; pagination: object } }>(
      'whitelist?limit=1',
      {
        token: alice.token,
      },
    )
    expect([data.ranges.length, data.pagination]).toEqual([1, { page: 1, total: 3, totalPages: 3 }])
  })
})

describe('an appeal', () => {
  type AppealAnswer = { data: { id: string; status: string } }
  const ask = (from: string, ip: string) =>
    portreeve.request('appeals', { from, body: { ip, reason: 'It is mended.' } })

  /** Seven networks of as many systems report it, the last an hour later. */
  async function report(ip: string): Promise<void> {
    for (let system = 11; system <= 16; system++)
      await portreeve.report(`90.${system}.1.1`, ip, { count: 50 })
    now += HOUR
    await portreeve.report('90.17.1.1', ip, { count: 50 })
  }

  async function list(ip: string): Promise<void> {
    await report(ip)
    expect(await portreeve.check(ip)).toMatchObject({ listed: true })
  }

  it('from the listed address is granted at once, and then strangers alone do not list it again', async () => {
    await list('8.1.1.1')
    const answer = await ask('8.1.1.1', '8.1.1.1')
    expect([answer.status, await answer.json()]).toMatchObject([
      201,
      { data: { status: 'granted' } },
    ])
    expect(await portreeve.check('8.1.1.1')).toMatchObject({
      listed: false,
      listingState: 'delisted',
      score: 0,
      evidence: [],
    })
    expect((await ask('8.1.1.1', '8.1.1.1')).status).toBe(409)
    await report('8.1.1.1')
    expect(await portreeve.check('8.1.1.1')).toMatchObject({ listed: false })
  })

  it('that was granted is decided by an administrator the next time, whatever else is pending', async () => {
    const body = { ip: '8.1.1.1', list: true }
    expect(
      (await portreeve.request('candidates/decisions', { token: alice.token, body })).status,
    ).toBe(200)
    const again = (await (await ask('8.1.1.1', '8.1.1.1')).json()) as AppealAnswer
    expect(again.data.status).toBe('open')
    expect((await ask('8.1.1.1', '8.1.1.1')).status).toBe(409)
    expect(await portreeve.check('8.1.1.1')).toMatchObject({ listed: true })
  })

  it('from elsewhere waits for an administrator, whose decision costs the reporters', async () => {
    await list('8.1.1.2')
    const { data } = (await (await ask('90.99.1.1', '8.1.1.2')).json()) as AppealAnswer
    expect(data.status).toBe('open')
    expect((await ask('90.99.1.1', '8.1.1.2')).status).toBe(409)
    expect((await ask('90.98.1.1', '8.1.1.2')).status).toBe(201)
    type Page = {
      appeals: { id: string; address: string; reason: string; own: boolean; status: string }[]
    }
    const readPage = async () =>
      (await portreeve.answerTo<{ data: Page }>('appeals', { token: alice.token })).data.appeals
    expect((await readPage()).find(({ id }) => id === data.id)).toMatchObject({
      reason: 'It is mended.',
      own: false,
    })
    const decide = (by: Person, upheld = true) =>
      portreeve.request(`appeals/${data.id}/decision`, { token: by.token, body: { upheld } })
    expect((await decide(charlie)).status).toBe(403)
    expect(await (await decide(alice)).json()).toMatchObject({ data: { status: 'upheld' } })
    expect((await decide(alice)).status).toBe(409)
    expect(await portreeve.check('8.1.1.2')).toMatchObject({
      listed: false,
      listingState: 'delisted',
    })
    const { rows } = await database.pool.query(
      "select count(*)::int as n from abuse_refutation where cause = 'appeal'",
    )
    expect(rows[0].n).toBe(7)
    const others = (await readPage()).filter(({ address }) => address === '8.1.1.2')
    expect(others.map(({ status }) => status)).toEqual(['upheld', 'upheld'])
  })

  it('is about a listed address, has a reason, and is made ten times a day at most', async () => {
    expect((await ask('90.97.1.1', '8.1.1.9')).status).toBe(409)
    const body = { ip: '8.1.1.1', reason: '  ' }
    expect((await portreeve.request('appeals', { from: '90.97.1.1', body })).status).toBe(400)
    const statuses = []
    for (let i = 0; i < 10; i++) statuses.push((await ask('90.97.1.1', '8.1.1.9')).status)
    expect([statuses.slice(0, 9), statuses[9]]).toEqual([Array(9).fill(409), 429])
    now += DAY + MINUTE
    expect((await ask('90.97.1.1', '8.1.1.9')).status).toBe(409)
  })
})
