import * as fc from 'fast-check'
import { sql } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ingest } from '../../src/dmarc/intake/ingest.ts'
import { daysAndMonths } from '../../src/dmarc/summary/dmarc-summary.sql.ts'
import { withdrawReports } from '../../src/dmarc/statistics/withdraw-statistics.ts'
import { aggregate, daysAgo, type ReportSpec } from './reports.ts'
import { startDmarc, type Person, type DmarcTest } from './module.ts'

/** The sums of the records, computed by PostgreSQL. */
const RECORDED = `
  select r.id, r.domain_id, r.org_name, (r.begins_at at time zone 'utc')::date as day, (one ->> 'count')::int as count,
    one ->> 'sourceIp' as source, one -> 'policyEvaluated' ->> 'dkim' = 'pass' as dkim,
    one -> 'policyEvaluated' ->> 'spf' = 'pass' as spf, one -> 'policyEvaluated' ->> 'disposition' as disposition,
    one -> 'authResults' -> 'dkim' -> 0 ->> 'selector' as selector, one -> 'identifiers' ->> 'headerFrom' as header_from
  from dmarc_report r join dmarc_records p on p.report_id = r.id, json_array_elements(p.records) as one`
const SUMS = `sum(count)::int as messages, coalesce(sum(count) filter (where dkim or spf), 0)::int as aligned,
  coalesce(sum(count) filter (where dkim), 0)::int as dkim, coalesce(sum(count) filter (where spf), 0)::int as spf,
  coalesce(sum(count) filter (where disposition = 'quarantine'), 0)::int as quarantined,
  coalesce(sum(count) filter (where disposition = 'reject'), 0)::int as rejected`
const KEPT = ['messages', 'aligned', 'dkim', 'spf', 'quarantined', 'rejected']
  .map((column) => `sum(${column})::int as ${column}`)
  .join(', ')
const INSIDE = `header_from = 'example.test' or header_from like '%.example.test'`

const row = fc.record({
  ip: fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3', '2001:db8::1'),
  count: fc.integer({ min: 1, max: 9 }),
  dkim: fc.constantFrom('pass' as const, 'fail' as const),
  spf: fc.constantFrom('pass' as const, 'fail' as const),
  disposition: fc.constantFrom('none', 'quarantine', 'reject'),
  from: fc.constantFrom('example.test', 'news.example.test', 'elsewhere.test'),
  selector: fc.constantFrom('a', 'b'),
})
const report = fc.record({
  org: fc.constantFrom('A', 'B'),
  days: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 25, max: 40 })),
  length: fc.constantFrom(1, 1, 3),
  rows: fc.array(row, { maxLength: 6 }),
})
/** Days before today, from and to; reports of several days may end after today. */
const RANGES = [
  [29, 0],
  [70, 0],
  [29, -1],
  [29, 1],
  [new Date().getUTCDate() - 1, 0],
  [new Date().getUTCDate(), 0],
  [0, 0],
  [40, -40],
] as const
const dayBefore = (days: number) => new Date(daysAgo(days) * 1000).toISOString().slice(0, 10)

/** Events in order: reports arrive, arrive again, and the oldest expire. */
const story = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: report },
    { weight: 1, arbitrary: fc.constant('again' as const) },
    { weight: 1, arbitrary: fc.record({ expire: fc.integer({ min: 1, max: 3 }) }) },
  ),
  { minLength: 1, maxLength: 12 },
)

describe('the statistics of a domain', () => {
  let portreeve: DmarcTest
  let alice: Person

  beforeAll(async () => {
    portreeve = await startDmarc()
    alice = await portreeve.addPerson('Alice')
  })
  afterAll(() => portreeve.stop())

  const rowsOf = async (query: string) => (await portreeve.pool.query(query)).rows

  async function expectSame(): Promise<void> {
    const recorded = (by: string) =>
      rowsOf(
        `select ${by}, ${SUMS} from (${RECORDED}) as r where ${INSIDE} group by ${by} order by ${by}`,
      )
    const bySource = `select host(source) as source, ${KEPT} from dmarc_source_day group by source order by host(source)`
    expect(await rowsOf(bySource)).toEqual(await recorded('source'))
    // A month includes its first and its last day.
    const byMonth = `select month, source, ${KEPT}, min(first_day) as first, max(last_day) as last from dmarc_source_month`
    const byDay = `select date_trunc('month', day)::date as month, source, ${KEPT}, min(day) as first, max(day) as last from dmarc_source_day`
    expect(await rowsOf(`${byMonth} group by 1, 2 order by 1, 2`)).toEqual(
      await rowsOf(`${byDay} group by 1, 2 order by 1, 2`),
    )
    const byReporter = `select reporter as org_name, ${KEPT} from dmarc_reporter_day group by reporter having sum(messages) > 0 order by reporter`
    expect(await rowsOf(byReporter)).toEqual(await recorded('org_name'))
    expect(
      await rowsOf(`select coalesce(sum(reports), 0)::int as reports from dmarc_reporter_day`),
    ).toEqual(await rowsOf(`select count(*)::int as reports from dmarc_report`))
    expect(
      await rowsOf(`select selector, messages, passed from dmarc_selector order by selector`),
    ).toEqual(
      await rowsOf(`select selector, sum(count)::int as messages,
        coalesce(sum(count) filter (where dkim), 0)::int as passed from (${RECORDED}) as r group by selector order by 1`),
    )
  }

  async function expectSameSelectors(): Promise<void> {
    expect(
      await rowsOf(`select selector, sum(messages)::int as messages, sum(passed)::int as passed
        from dmarc_selector_day group by selector order by selector`),
    ).toEqual(
      await rowsOf(`select selector, messages, passed from dmarc_selector order by selector`),
    )
  }

  async function expectSameDays(): Promise<void> {
    expect(
      await rowsOf(
        `select day, host(source) as source, ${KEPT} from dmarc_source_day group by 1, 2 order by 1, 2`,
      ),
    ).toEqual(
      await rowsOf(
        `select day, source, ${SUMS} from (${RECORDED}) as r where ${INSIDE} group by 1, 2 order by 1, 2`,
      ),
    )
  }

  /** A range is summed from days and months, which has to be the same as its days. */
  async function expectSameRange(from: string, to: string): Promise<void> {
    const [{ id: domainId = '' } = {}] = await rowsOf('select id from dmarc_domain')
    const sums = sql.raw(
      `host(source) as source, min(first_day)::text as first, max(last_day)::text as last, ${KEPT}`,
    )
    const { rows } = await sql`
      select ${sums} from (${daysAndMonths(domainId, { from, to })}) as counted group by source order by 1`.execute(
      portreeve.db,
    )
    expect(rows).toEqual(
      await rowsOf(`select host(source) as source, min(day)::text as first, max(day)::text as last, ${KEPT}
        from dmarc_source_day where day between '${from}' and '${to}' group by source order by 1`),
    )
  }

  it('match the records after reports are added, repeated and deleted', async () => {
    await fc.assert(
      fc.asyncProperty(story, async (events) => {
        await portreeve.pool.query('delete from dmarc_domain')
        await portreeve.addDomain(alice.token)
        const sent: string[] = []
        let isSpread = false
        for (const event of events) {
          if (event === 'again') await take(sent.slice(-2))
          else if ('expire' in event) await expire(event.expire)
          else {
            isSpread ||= event.length > 1
            sent.push(aggregate(specOf(event)))
            await take(sent.slice(-1))
          }
          await expectSame()
          await expectSameSelectors()
        }
        if (!isSpread) await expectSameDays()
        for (const [from, to] of RANGES) await expectSameRange(dayBefore(from), dayBefore(to))
        await expire(events.length)
        for (const table of ['source_day', 'source_month', 'reporter_day', 'selector']) {
          expect(await rowsOf(`select * from dmarc_${table}`)).toEqual([])
        }
      }),
      { numRuns: 40 },
    )
  })

  function specOf({
    org,
    days,
    length,
    rows,
  }: { org: string; days: number; length: number } & ReportSpec): ReportSpec {
    return { org, begin: daysAgo(days), end: daysAgo(days - length) - 1, rows: rows ?? [] }
  }

  async function take(texts: string[]): Promise<void> {
    const files = texts.map((text, index) => ({ name: `${index}.xml`, bytes: Buffer.from(text) }))
    const { rejected } = await ingest(portreeve.db, { via: 'upload', workspaceId: alice.id }, files)
    expect(rejected).toEqual([])
  }

  const expire = (count: number) =>
    withdrawReports(portreeve.db, new Date(Date.now() + 1_000), count)
})
