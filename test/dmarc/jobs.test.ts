import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { NewAlert } from '../../src/alerts/raise.ts'
import { aggregate, daysAgo, tlsReport } from './reports.ts'
import { startDmarc, type Person, type DmarcTest } from './module.ts'

describe('the scheduled jobs on reports', () => {
  let portreeve: DmarcTest
  let alice: Person
  let id: string
  const alerts: NewAlert[] = []

  beforeAll(async () => {
    const raiseAlert = async (_db: unknown, alert: NewAlert) => alerts.push(alert) > 0
    portreeve = await startDmarc({
      raiseAlert,
      env: { REPORTS_KEPT_MONTHS: '24', REPORT_FILES_KEPT_DAYS: '30' },
    })
  })
  afterAll(() => portreeve.stop())
  beforeEach(async () => {
    await portreeve.pool.query('delete from account')
    alerts.length = 0
    alice = await portreeve.addPerson('Alice')
    ;({ id } = await portreeve.addDomain(alice.token))
  })

  const count = async (table: string, where = 'true') => {
    const { rows } = await portreeve.pool.query<{ count: number }>(
      `select count(*)::int as count from ${table} where ${where}`,
    )
    return rows[0]?.count
  }
  const age = (interval: string) =>
    Promise.all(
      [
        'dmarc_delivery.received_at',
        'dmarc_report.received_at',
        'dmarc_tls_report.received_at',
        'dmarc_set_aside.received_at',
      ].map((name) => {
        const [table, column] = name.split('.')
        return portreeve.pool.query(
          `update ${table} set ${column} = ${column} - interval '${interval}'`,
        )
      }),
    )

  it('stores files for thirty days and reports for two years', async () => {
    for (const body of [aggregate(), tlsReport(), 'nothing'])
      await portreeve.upload(alice.token, body)
    await age('31 days')
    await portreeve.upload(alice.token, aggregate())
    await portreeve.run('dmarc.clean-up')
    expect(await count('dmarc_delivery', 'content is not null')).toBe(1)
    const [, old] = (await portreeve.ask(`domains/${id}/reports`, alice)).body.data.reports
    expect(old).toMatchObject({ via: 'upload', recordCount: 1 })
    expect((await portreeve.ask(`domains/${id}/reports/${old.id}/raw`, alice)).status).toBe(404)
    // Two years with a leap day have 731 days.
    await age('732 days')
    await portreeve.upload(alice.token, aggregate())
    await portreeve.run('dmarc.clean-up')
    expect(
      await Promise.all(
        [
          'dmarc_report',
          'dmarc_records',
          'dmarc_delivery',
          'dmarc_tls_report',
          'dmarc_set_aside',
        ].map((one) => count(one)),
      ),
    ).toEqual([1, 1, 1, 0, 0])
    const { reports, messages } = (await portreeve.ask(`domains/${id}/summary`, alice)).body.data
      .totals
    expect({ reports, messages }).toEqual({ reports: 1, messages: 1 })
  })

  it('raises one alert for a day with far more failures than before', async () => {
    const rows = (fail: number) => [
      { count: 100 },
      ...(fail > 0 ? [{ count: fail, dkim: 'fail' as const, spf: 'fail' as const }] : []),
    ]
    for (const days of [4, 5, 6, 7, 8])
      await portreeve.upload(alice.token, aggregate({ begin: daysAgo(days), rows: rows(1) }))
    await portreeve.run('dmarc.watch')
    expect(alerts).toEqual([])
    await portreeve.upload(alice.token, aggregate({ begin: daysAgo(1), rows: rows(80) }))
    await portreeve.run('dmarc.watch')
    await portreeve.run('dmarc.watch')
    expect(alerts).toMatchObject([
      {
        workspaceId: alice.id,
        kind: 'dmarc.failures',
        title: 'More mail from example.test fails DMARC',
        path: `/dmarc/${id}`,
      },
    ])
    expect(alerts[0]?.text).toMatch(
      /^80 of 180 messages \(44\.4%\) failed on [\d-]+, compared with 1\.0% in the two weeks before\.$/,
    )
  })

  it('raises no alert for a new domain or a few failures', async () => {
    await portreeve.upload(
      alice.token,
      aggregate({ rows: [{ count: 500, dkim: 'fail', spf: 'fail' }] }),
    )
    const known = await portreeve.addDomain(alice.token, 'known.test')
    for (const days of [4, 5, 6, 7]) {
      await portreeve.upload(
        alice.token,
        aggregate({ domain: known.domain, begin: daysAgo(days), rows: [{ count: 100 }] }),
      )
    }
    const rows = [{ count: 10 }, { count: 40, dkim: 'fail' as const, spf: 'fail' as const }]
    await portreeve.upload(alice.token, aggregate({ domain: known.domain, rows }))
    await portreeve.run('dmarc.watch')
    expect(alerts).toEqual([])
  })
})
