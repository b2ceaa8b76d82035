import { describe, expect, it } from 'vitest'
import { isAligned, reportKey } from '../../../src/protocols/reports/aggregate-report.ts'
import { tlsReportKey } from '../../../src/protocols/reports/tls-report.ts'
import * as sample from './report-samples.ts'

const aggregates = sample.samples('aggregate')
const tlsReports = sample.samples('tlsrpt')
const failures = sample.samples('failure-report')

const camelCase = (name: string) =>
  name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
const sum = (counts: { count: number }[]) => counts.reduce((total, { count }) => total + count, 0)

describe('the samples of aggregate reports', () => {
  it('are twenty and more', () => expect(aggregates.length).toBeGreaterThan(20))

  it.each(aggregates)('$file is read: $special', async ({ file, expected }) => {
    const wanted = expected as sample.ExpectedAggregate
    const report = await sample.aggregateIn(file)
    expect(report).toMatchObject({
      reportId: wanted.report_id,
      orgName: wanted.org_name ?? wanted.email.split('@')[1],
      email: wanted.email,
      namespace: wanted.namespace,
      version: wanted.version,
      dateRange: {
        begin: new Date(Number(wanted.begin) * 1000),
        end: new Date(Number(wanted.end) * 1000),
      },
      policyPublished: { domain: wanted.domain },
    })
    expect(report.recordCount + report.skippedRecords).toBe(wanted.record_count)
    expect(report.records).toHaveLength(report.recordCount)
    expect(sum(report.records)).toBe(wanted.message_count)
    expect(sum(report.records.filter(isAligned))).toBe(wanted.dmarc_pass_messages)
  })

  it.each(aggregates)('$file has exactly the policy in its index', async ({ file, expected }) => {
    const wanted = expected as sample.ExpectedAggregate
    const nothing = ['discovery_method', 'p', 'sp', 'np', 'adkim', 'aspf', 'pct', 'fo', 'testing']
    const policy = {
      ...Object.fromEntries(nothing.map((name) => [name, null])),
      ...wanted.policy_published,
    }
    const expectedPolicy = Object.fromEntries(
      Object.entries(policy).map(([name, value]) => [camelCase(name), value]),
    )
    expect((await sample.aggregateIn(file)).policyPublished).toEqual({
      domain: wanted.domain,
      ...expectedPolicy,
    })
  })

  const listed = aggregates.filter(({ expected }) => (expected as sample.ExpectedAggregate).records)
  it.each(listed)('$file has the records in its index', async ({ file, expected }) => {
    const wanted = (expected as sample.ExpectedAggregate).records ?? []
    const { records } = await sample.aggregateIn(file)
    const read = records.map(({ sourceIp, count, policyEvaluated, identifiers }) => ({
      source_ip: sourceIp,
      count,
      disposition: policyEvaluated.disposition,
      dkim: policyEvaluated.dkim,
      spf: policyEvaluated.spf,
      // The index leaves out invalid UTF-8.
      header_from: identifiers.headerFrom?.replaceAll('\ufffd', ''),
    }))
    expect(read).toEqual(wanted.filter(({ source_ip }) => source_ip !== null))
  })

  it('are one report in three containers, and otherwise different ones', async () => {
    const keys = new Map<string, string[]>()
    for (const { file } of aggregates) {
      const key = reportKey(await sample.aggregateIn(file))
      keys.set(key, [...(keys.get(key) ?? []), file])
    }
    const same = [...keys.values()]
      .filter((files) => files.length > 1)
      .map((files) => files.toSorted())
    expect(same).toEqual([
      ['google-20-records.xml', 'google-20-records.xml.gz', 'google-20-records.xml.zip'],
      ['test.xml.zip', 'test_empty.xml'],
    ])
  })

  it('know the mail that brought them', async () => {
    const mails = aggregates.filter(({ file }) => file.endsWith('.eml'))
    expect(mails).toHaveLength(4)
    for (const { file, expected } of mails) {
      const [report] = (await sample.unpackAll(sample.readSample(file))).reports
      expect(report?.mail?.subject).toBe(expected.subject)
    }
  })
})

describe('the samples of TLS reports', () => {
  it.each(tlsReports)('$file is read: $special', async ({ file, expected }) => {
    const wanted = expected as sample.ExpectedTls
    const report = await sample.tlsIn(file)
    expect(report).toMatchObject({
      reportId: wanted.report_id,
      organizationName: wanted.organization_name,
      contactInfo: wanted.contact_info,
      dateRange: { begin: new Date(wanted.start), end: new Date(wanted.end) },
    })
    const policies = report.policies.map((policy) => ({
      type: policy.policyType,
      domain: policy.policyDomain,
      success: policy.totalSuccessfulSessionCount,
      failure: policy.totalFailureSessionCount,
      failure_details: policy.failureDetails.length,
    }))
    expect(policies).toEqual(wanted.policies)
  })

  it('are all different reports', async () => {
    const keys = await Promise.all(
      tlsReports.map(async ({ file }) => tlsReportKey(await sample.tlsIn(file))),
    )
    expect(new Set(keys).size).toBe(8)
    expect(tlsReports).toHaveLength(8)
  })
})

describe('the samples of failure reports', () => {
  it('are five', () => expect(failures).toHaveLength(5))

  it.each(failures)('$file is recognized and not parsed: $special', async ({ file, expected }) => {
    const { reports, others } = await sample.unpackAll(sample.readSample(file))
    expect(others).toEqual([])
    expect(reports).toEqual([expect.objectContaining({ kind: 'failure', name: expected.subject })])
  })
})
