import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ingest } from '../../src/dmarc/intake/ingest.ts'
import {
  readSample,
  samples,
  type ExpectedAggregate,
  type ExpectedTls,
} from '../protocols/reports/report-samples.ts'
import { startDmarc, type Person, type DmarcTest } from './module.ts'

const aggregates = samples('aggregate')
const tls = samples('tls')
const failures = samples('failure')

describe('real reports', () => {
  let portreeve: DmarcTest
  let alice: Person

  beforeAll(async () => {
    portreeve = await startDmarc()
    alice = await portreeve.addPerson('Alice')
    const domains = [
      ...aggregates.map(({ expected }) => (expected as ExpectedAggregate).domain),
      ...tls.flatMap(({ expected }) =>
        (expected as ExpectedTls).policies.map(({ domain }) => domain),
      ),
    ]
    for (const domain of new Set(domains)) await portreeve.addDomain(alice.token, domain)
  })
  afterAll(() => portreeve.stop())

  const take = (file: string) =>
    ingest(portreeve.db, { via: 'import', workspaceId: alice.id }, [
      { name: file, bytes: readSample(file) },
    ])

  it.each(aggregates)('stores $file with all its counts', async ({ file, expected }) => {
    const { stored, duplicates } = await take(file)
    expect([stored, duplicates]).toContain(1)
    const {
      domain,
      report_id: reportId,
      record_count,
      message_count,
    } = expected as ExpectedAggregate
    const { rows } = await portreeve.pool.query(
      `select r.messages, r.record_count, r.messages - r.outside as inside, sum(s.messages)::int as summed
       from dmarc_report r join dmarc_domain d on d.id = r.domain_id, lateral (
         select messages from dmarc_reporter_day where domain_id = d.id) s
       where d.domain = $1 and r.report_id = $2 group by r.id`,
      [domain.toLowerCase(), reportId],
    )
    // Copies of one report may differ in content: the first one is stored.
    if (stored === 1)
      expect(rows).toContainEqual(
        expect.objectContaining({ record_count, messages: message_count }),
      )
    expect(rows[0].summed).toBeGreaterThanOrEqual(rows[0].inside)
  })

  it.each(tls)('stores $file as a TLS report', async ({ file, expected }) => {
    const { policies } = expected as ExpectedTls
    const { stored, duplicates } = await take(file)
    expect(stored + duplicates).toBe(new Set(policies.map(({ domain }) => domain)).size)
  })

  it.each(failures)('counts $file without storing it', async ({ file }) => {
    expect(await take(file)).toMatchObject({
      stored: 0,
      failureReports: 1,
      rejected: [],
      deliveries: new Set(),
    })
  })
})
