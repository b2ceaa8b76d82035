import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { aggregate, daysAgo, mailWith, tlsReport, type Row } from './reports.ts'
import { startDmarc, type Person, type DmarcTest } from './module.ts'

describe('reports on a domain', () => {
  let portreeve: DmarcTest
  let alice: Person
  let bob: Person
  let charlie: Person

  beforeAll(async () => {
    portreeve = await startDmarc()
  })
  afterAll(() => portreeve.stop())
  beforeEach(async () => {
    alice = await portreeve.addPerson('Alice')
    bob = await portreeve.addPerson('Bob')
    charlie = await portreeve.addPerson('Charlie')
  })

  it('lists an uploaded report with its records and totals', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    const rows = [
      { count: 3 },
      { ip: '2001:db8::1', count: 2, dkim: 'fail', spf: 'fail', disposition: 'reject' },
    ] as const
    const answer = await portreeve.upload(
      alice.token,
      aggregate({ id: 'r-1', org: 'Receiver Inc', rows: [...rows] }),
    )
    expect(answer).toEqual({
      status: 200,
      body: {
        success: true,
        data: {
          stored: 1,
          duplicates: 0,
          failureReports: 0,
          rejected: [],
          domains: [expect.objectContaining({ domain: 'example.test', reports: 1 })],
        },
      },
    })

    const { body } = await portreeve.ask(`domains/${id}/reports`, alice)
    expect(body.data.pagination).toEqual({ page: 1, total: 1, totalPages: 1 })
    expect(body.data.reports[0]).toMatchObject({
      reportId: 'r-1',
      orgName: 'Receiver Inc',
      dateRange: { begin: new Date(daysAgo(1) * 1000).toISOString() },
      policyPublished: { domain: 'example.test', p: 'none' },
      recordCount: 2,
      totals: {
        messages: 5,
        pass: 3,
        fail: 2,
        outside: 0,
        disposition: { none: 3, quarantine: 0, reject: 2 },
      },
      via: 'upload',
      authentication: null,
      records: [
        { sourceIp: '192.0.2.1', count: 3, result: 'pass', outside: false },
        {
          sourceIp: '2001:db8::1',
          count: 2,
          result: 'fail',
          policyEvaluated: { disposition: 'reject', dkim: 'fail' },
        },
      ],
    })
    // The response schema serializes one report, but not a list.
    const [listed] = body.data.reports
    const alone = await portreeve.ask(`domains/${id}/reports/${listed.id}`, alice)
    expect(listed).toEqual(alone.body.data)
    const domains = await portreeve.ask('domains', alice)
    expect(domains.body.data[0]).toMatchObject({
      totalReports: 1,
      lastReportAt: expect.stringMatching(/^20.*Z$/),
    })
  })

  it('lists reports in pages, last received first', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    for (const name of ['a', 'b', 'c']) await portreeve.upload(alice.token, aggregate({ id: name }))
    const page = async (query: string) =>
      (await portreeve.ask(`domains/${id}/reports?${query}`, alice)).body
    const first = await page('limit=2')
    expect(first.data.reports.map((one: { reportId: string }) => one.reportId)).toEqual(['c', 'b'])
    expect(first.data.pagination).toEqual({ page: 1, total: 3, totalPages: 2 })
    expect((await page('limit=2&page=2')).data.reports).toMatchObject([{ reportId: 'a' }])
    expect((await page('limit=101')).code).toBe('invalid_request')
    expect((await page('page=0')).code).toBe('invalid_request')
  })

  it('counts a report once, in whatever format it arrives', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    const xml = aggregate({ rows: [{ count: 7 }] })
    await portreeve.upload(alice.token, xml)
    const again = await portreeve.upload(alice.token, mailWith({ attachment: xml }))
    expect(again.body.data).toMatchObject({ stored: 0, duplicates: 1, rejected: [] })
    const { body } = await portreeve.ask(`domains/${id}/summary`, alice)
    expect(body.data.totals).toMatchObject({ reports: 1, messages: 7 })
  })

  it('treats equal IDs from another reporter or for another day as different reports', async () => {
    await portreeve.addDomain(alice.token)
    const specs = [{}, { org: 'other.test' }, { begin: daysAgo(3) }]
    for (const spec of specs) {
      const { body } = await portreeve.upload(alice.token, aggregate({ id: 'same', ...spec }))
      expect(body.data).toMatchObject({ stored: 1, duplicates: 0 })
    }
  })

  it('rejects a report on a domain of another account with the reason', async () => {
    await portreeve.addDomain(alice.token)
    const { body } = await portreeve.upload(alice.token, aggregate({ domain: 'other.test' }))
    const reason =
      'The report is for other.test, which is not in your workspace. Add the domain to receive its reports.'
    expect(body.data).toMatchObject({ stored: 0, rejected: [{ reason }] })
    const list = await portreeve.ask('rejected', alice)
    expect(list.body.data).toMatchObject({
      rejected: [{ reason, via: 'upload', kept: true }],
      pagination: { total: 1 },
    })
    const raw = await portreeve.ask(`rejected/${list.body.data.rejected[0].id}/raw`, alice)
    expect(raw.body).toContain('<domain>other.test</domain>')
  })

  it('reads rejected reports when their domain is added', async () => {
    await portreeve.upload(alice.token, aggregate({ domain: 'mail.late.test' }))
    const other = await portreeve.upload(alice.token, aggregate({ domain: 'never.test' }))
    expect(other.body.data.rejected).toMatchObject([{ domain: 'never.test' }])
    expect((await portreeve.ask('rejected', alice)).body.data.pagination.total).toBe(2)
    await portreeve.addDomain(alice.token, 'late.test')
    expect((await portreeve.ask('domains', alice)).body.data).toMatchObject([
      { domain: 'late.test', totalReports: 1 },
    ])
    expect((await portreeve.ask('rejected', alice)).body.data.rejected).toMatchObject([
      { domain: 'never.test' },
    ])
    const body = { entries: [{ domain: 'never.test' }] }
    const imported = await portreeve.ask('domains/import', { ...alice, body })
    expect(imported.body.data.reports).toMatchObject({
      stored: 1,
      domains: [{ domain: 'never.test', reports: 1 }],
    })
    expect((await portreeve.ask('rejected', alice)).body.data.pagination.total).toBe(0)
  })

  it('lists unreadable files with the reason, and stores the reports beside them', async () => {
    await portreeve.addDomain(alice.token)
    const form = new FormData()
    form.append('file', new Blob([aggregate()]), 'good.xml')
    form.append('file', new Blob(['<feedback><broken']), 'bad.xml')
    form.append(
      'file',
      new Blob(['<!DOCTYPE x [<!ENTITY a "b">]><feedback>&a;</feedback>']),
      'entity.xml',
    )
    const { body } = await portreeve.ask('reports', { token: alice.token, body: form })
    expect(body.data).toMatchObject({ stored: 1, duplicates: 0 })
    expect(body.data.rejected.map((one: { name: string }) => one.name)).toEqual([
      'bad.xml',
      'entity.xml',
    ])
    expect((await portreeve.ask('rejected', alice)).body.data.pagination.total).toBe(2)
  })

  it('flags records from outside the domain, and excludes them from the summary', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    const rows: Row[] = [
      { count: 2 },
      { count: 3, from: 'news.example.test' },
      { count: 50, from: 'victim.test', dkim: 'fail', spf: 'fail', disposition: 'reject' },
      { count: 7, from: 'other.test', disposition: 'quarantine' },
    ]
    await portreeve.upload(alice.token, aggregate({ rows }))
    const { body } = await portreeve.ask(`domains/${id}/reports`, alice)
    const shown = {
      totals: {
        messages: 62,
        pass: 12,
        fail: 50,
        outside: 57,
        disposition: { none: 5, quarantine: 7, reject: 50 },
      },
      records: [{ outside: false }, { outside: false }, { outside: true }, { outside: true }],
    }
    expect(body.data.reports[0]).toMatchObject(shown)
    const alone = await portreeve.ask(`domains/${id}/reports/${body.data.reports[0].id}`, alice)
    expect(alone.body.data).toMatchObject(shown)
    const failing = await portreeve.ask(`domains/${id}/reports?result=fail`, alice)
    expect(failing.body.data.pagination.total).toBe(1)
    const summary = await portreeve.ask(`domains/${id}/summary`, alice)
    expect(summary.body.data.totals).toMatchObject({ messages: 5, pass: 5, fail: 0 })
  })

  it('adds them to the totals of reports stored before totals included them', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    const outside: Row = {
      count: 50,
      from: 'victim.test',
      dkim: 'fail',
      spf: 'fail',
      disposition: 'reject',
    }
    const rows: Row[] = [
      { count: 2, spf: 'fail' },
      outside,
      { count: 7, from: 'other.test', disposition: 'quarantine' },
    ]
    for (const some of [rows, rows.slice(1), [{ count: 4 }]])
      await portreeve.upload(alice.token, aggregate({ rows: some }))
    const listed = async () =>
      (await portreeve.ask(`domains/${id}/reports`, alice)).body.data.reports
    const asTheyAre = await listed()
    await portreeve.pool.query(
      `update dmarc_report set messages = messages - outside, aligned = least(aligned, messages - outside),
         detail = detail || '{"disposition": {"none": 2, "quarantine": 0, "reject": 0}}' where outside > 0`,
    )
    expect(await listed()).not.toEqual(asTheyAre)
    await portreeve.pool.query(
      readFileSync('src/store/migrations/0118_dmarc_report_totals.sql', 'utf8'),
    )
    expect(await listed()).toEqual(asTheyAre)
  })

  it('assigns a report on a subdomain to the registered parent domain', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    await portreeve.upload(alice.token, aggregate({ domain: 'news.example.test' }))
    expect((await portreeve.ask(`domains/${id}/reports`, alice)).body.data.pagination.total).toBe(1)
  })

  it('stores the policies of a TLS report that name a domain, and skips the others', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    const report = JSON.parse(tlsReport({ failed: 3 })) as { policies: object[] }
    report.policies.unshift({ policy: { 'policy-type': 'no-policy-found' }, summary: {} })
    const { body } = await portreeve.upload(alice.token, JSON.stringify(report), 'application/json')
    expect(body.data).toMatchObject({ stored: 1, rejected: [] })
    const [newest] = (await portreeve.ask(`domains/${id}/tls-reports`, alice)).body.data.reports
    expect(newest).toMatchObject({
      policies: [{ policyDomain: 'example.test' }],
      skippedPolicies: 1,
      totals: { failed: 3 },
    })
  })

  it('lists TLS reports separately', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    const { body } = await portreeve.upload(
      alice.token,
      tlsReport({ failed: 4 }),
      'application/json',
    )
    expect(body.data).toMatchObject({ stored: 1, rejected: [] })
    const list = await portreeve.ask(`domains/${id}/tls-reports`, alice)
    expect(list.body.data.reports).toMatchObject([
      {
        organizationName: 'Receiver',
        totals: { successful: 10, failed: 4 },
        policies: [{ policyDomain: 'example.test' }],
      },
    ])
    expect((await portreeve.ask(`domains/${id}/reports`, alice)).body.data.reports).toEqual([])
  })

  it('lists the records of a large report in pages', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    const rows = Array.from({ length: 1_203 }, (_, n) => ({ ip: `192.0.${n >> 8}.${n & 255}` }))
    await portreeve.upload(alice.token, aggregate({ rows }))
    const { body } = await portreeve.ask(`domains/${id}/reports`, alice)
    const [report] = body.data.reports
    expect(report).toMatchObject({ recordCount: 1_203, totals: { messages: 1_203 } })
    expect(report.records).toHaveLength(500)
    const last = await portreeve.ask(`domains/${id}/reports/${report.id}/records?page=3`, alice)
    expect(last.body.data.records).toHaveLength(203)
    expect(last.body.data.pagination).toEqual({ page: 3, total: 1_203, totalPages: 3 })
  })

  it('separates the reports of two accounts with the same domain', async () => {
    const [mine, theirs] = [
      await portreeve.addDomain(alice.token),
      await portreeve.addDomain(bob.token),
    ]
    await portreeve.upload(alice.token, aggregate())
    expect(
      (await portreeve.ask(`domains/${mine.id}/reports`, alice)).body.data.pagination.total,
    ).toBe(1)
    expect(
      (await portreeve.ask(`domains/${theirs.id}/reports`, bob)).body.data.pagination.total,
    ).toBe(0)
  })

  it('hides everything from other accounts', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    await portreeve.upload(alice.token, aggregate())
    await portreeve.upload(alice.token, 'no report')
    const [report] = (await portreeve.ask(`domains/${id}/reports`, alice)).body.data.reports
    const [rejected] = (await portreeve.ask('rejected', alice)).body.data.rejected
    const paths = [
      'reports',
      'summary',
      'tls-reports',
      `reports/${report.id}`,
      `reports/${report.id}/records`,
      `reports/${report.id}/raw`,
    ]
    for (const path of ['', ...paths.map((one) => `/${one}`)]) {
      expect((await portreeve.ask(`domains/${id}${path}`, charlie)).status, path).toBe(404)
      expect((await portreeve.ask(`domains/${id}${path}`)).status, path).toBe(401)
    }
    expect((await portreeve.ask(`rejected/${rejected.id}/raw`, charlie)).status).toBe(404)
    expect((await portreeve.ask('rejected', charlie)).body.data.rejected).toEqual([])
    const own = await portreeve.addDomain(charlie.token, 'charlie.test')
    expect((await portreeve.ask(`domains/${own.id}/reports/${report.id}`, charlie)).status).toBe(
      404,
    )
  })

  it('accepts reports before the domain is verified', async () => {
    const { id } = await portreeve.addDomain(alice.token)
    expect((await portreeve.ask('domains', alice)).body.data[0]).toMatchObject({
      id,
      verified: false,
      lastReportAt: null,
    })
    expect((await portreeve.upload(alice.token, aggregate())).body.data.stored).toBe(1)
  })
})
