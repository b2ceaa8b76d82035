import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dropOldPartitions, ensurePartitions } from '../../src/abuse/intake/partitions.ts'
import { RETENTION } from '../../src/abuse/abuse-retention.ts'
import { retentionJobs } from '../../src/jobs/retention-jobs.ts'
import { abuseJobs, updateStandings } from '../../src/abuse/abuse-jobs.ts'
import { freshDatabase, type FreshDatabase } from '../database.ts'
import { DAY, HOUR, MINUTE, START } from './evidence.ts'
import { startAbuse, type AbuseTest } from './module.ts'
import { jobContext } from '../jobs/context.ts'

let database: FreshDatabase
let portreeve: AbuseTest
let now = START

beforeAll(async () => {
  database = await freshDatabase()
  portreeve = await startAbuse(database.url, () => now)
})
afterAll(async () => {
  await portreeve.stop()
  await database.drop()
})

async function partitions(): Promise<string[]> {
  const { rows } = await database.pool.query<{ name: string }>(
    "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'abuse_report'::regclass order by 1",
  )
  return rows.map(({ name }) => name)
}

const stored = async (ip: string) =>
  (await database.pool.query('select state, due_at from abuse_address where address = $1', [ip]))
    .rows[0]

describe('raw reports', () => {
  it('have a partition for today and the week to come, and are dropped after thirty days', async () => {
    const days = await partitions()
    expect(days).toHaveLength(8)
    expect(days[0]).toBe('abuse_report_20261121')
    await Promise.all([1, 2, 3].map(() => ensurePartitions(portreeve.db, now + 40 * DAY)))
    const later = await partitions()
    expect(later).toHaveLength(16)
    expect(await dropOldPartitions(portreeve.db, now + 31 * DAY)).toEqual(['abuse_report_20261121'])
    expect(await partitions()).toEqual(later.slice(1))
  })

  it('are accepted even if the day’s partition is missing', async () => {
    now = START + 100 * DAY
    expect(await portreeve.report('90.9.1.1', '8.8.4.4')).toMatchObject({
      success: true,
      deduped: false,
    })
    expect(await partitions()).toContain('abuse_report_20270301')
    now = START
  })
})

describe('time', () => {
  it('removes faded addresses from the watchlist, and deletes old ones', async () => {
    await portreeve.report('90.1.1.1', '8.8.8.8', { count: 32 })
    expect(await stored('8.8.8.8')).toMatchObject({ state: 'watchlist', due_at: expect.any(Date) })
    now += 3 * DAY
    await portreeve.keep()
    expect(await stored('8.8.8.8')).toMatchObject({ state: 'watchlist' })
    now += 10 * DAY
    await portreeve.keep()
    expect(await stored('8.8.8.8')).toMatchObject({ state: 'observed', due_at: null })
    expect(await portreeve.check('8.8.8.8')).toMatchObject({ listingState: 'observed' })
  })

  it('sums the counts of hours to days and drops unused ones', async () => {
    const ago = (days: number) => new Date(Date.now() - days * DAY)
    await database.pool.query('delete from abuse_count')
    for (const [days, lane] of [
      [20, 3],
      [20, 4],
      [1, 3],
    ] as const)
      await database.pool.query(
        "insert into abuse_count values (date_trunc('hour', $1::timestamptz), 'ssh', $2, 5)",
        [ago(days), lane],
      )
    await database.pool.query(
      `insert into abuse_address select '9.9.9.10', state, score, confidence, evidence, services, networks, total_reports,
        first_reported_at, $1, due_at, probation_until, shared, published, revision from abuse_address limit 1`,
      [ago(31)],
    )
    await database.pool.query("insert into abuse_rate values ('old', $1, 5)", [ago(3)])
    const [sums] = abuseJobs({ db: portreeve.db })
    const [retention] = retentionJobs(portreeve.db, RETENTION)
    const context = jobContext()
    for (const job of [sums, retention, sums, retention]) await job?.run({}, context)
    const { rows } = await database.pool.query(
      'select lane, reports::int from abuse_count order by hour',
    )
    expect(rows).toEqual([
      { lane: 0, reports: 10 },
      { lane: 3, reports: 5 },
    ])
    expect(await stored('9.9.9.10')).toBeUndefined()
    expect(
      (await database.pool.query("select from abuse_rate where source = 'old'")).rowCount,
    ).toBe(0)
  })
})

describe('the standing of a network', () => {
  it('is earned by reports that sensors of another system confirm, and counts from then on', async () => {
    await database.pool.query("insert into abuse_range (kind, cidr) values ('sensor', '94.1.1.1')")
    const sensed = await startAbuse(database.url, () => now)
    now = START + 30 * MINUTE
    const addresses = Array.from({ length: 30 }, (_, n) => `12.1.1.${n + 1}`)
    for (const ip of addresses) await sensed.report('90.1.1.1', ip)
    for (const ip of addresses) await sensed.report('90.2.1.1', ip)
    now += HOUR
    for (const ip of addresses.slice(0, 28)) await sensed.report('94.1.1.1', ip)
    now += 14 * DAY
    await updateStandings(portreeve.db, now)
    const { rows } = await database.pool.query(
      "select standing from abuse_network where standing <> 'new'",
    )
    expect(rows).toEqual([{ standing: 'established' }, { standing: 'established' }])
    const score = async (from: string, ip: string) =>
      Number((await sensed.report(from, ip, { count: 20 }))['score'])
    await expect.poll(() => score('90.1.1.9', '12.2.2.2')).toBeCloseTo(47.8, 0)
    expect(await score('90.3.1.1', '12.2.2.3')).toBeLessThan(30)
    await sensed.stop()
  })

  it('is lost by refutations', async () => {
    await database.pool.query(
      "insert into abuse_refutation select network, ('13.1.1.' || n)::inet, 'whitelist', now() from abuse_network, generate_series(1, 3) as n",
    )
    expect(await updateStandings(portreeve.db, now)).toBe(2)
    const { rows } = await database.pool.query(
      "select standing from abuse_network where standing <> 'new'",
    )
    expect(rows).toEqual([])
  })
})
