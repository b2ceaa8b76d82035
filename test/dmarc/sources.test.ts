import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { adviseOnSource } from '../../src/dmarc/sources/source-advice.ts'
import { sumIdentities } from '../../src/dmarc/sources/identities.ts'
import type { AggregateRecord } from '../../src/protocols/reports/aggregate-report.ts'
import { mapResolver } from '../resolver.ts'
import { aggregate, daysAgo, type Row } from './reports.ts'
import { startDmarc, type Person, type DmarcTest } from './module.ts'

const dayText = (days: number) => new Date(daysAgo(days) * 1000).toISOString().slice(0, 10)

describe('one source of a domain', () => {
  let portreeve: DmarcTest
  let alice: Person
  let id: string

  beforeAll(async () => {
    const resolver = mapResolver({
      '1.2.0.192.in-addr.arpa PTR': ['mail-1.sender.co.uk'],
      'mail-1.sender.co.uk A': ['192.0.2.1'],
    })
    portreeve = await startDmarc({ resolver })
  })
  afterAll(() => portreeve.stop())
  beforeEach(async () => {
    alice = await portreeve.addPerson('Alice')
    ;({ id } = await portreeve.addDomain(alice.token))
  })

  const report = (rows: Row[], spec = {}) =>
    portreeve.upload(alice.token, aggregate({ rows, ...spec }))
  const ask = async (rest: string, by = alice) => portreeve.ask(`domains/${id}/sources/${rest}`, by)
  const source = async (rest = '192.0.2.1') => (await ask(rest)).body.data
  const records = async (query = '', ip = '192.0.2.1') =>
    (await ask(`${ip}/records${query}`)).body.data

  it('is shown with its name and daily counts, separate from other sources', async () => {
    await report([{ count: 10 }, { ip: '192.0.2.2', count: 4 }], { begin: daysAgo(2), org: 'A' })
    await report([{ count: 1, spf: 'fail' }], { org: 'B' })
    await portreeve.run('dmarc.names')
    const { source: found, days } = await source()
    expect(found).toMatchObject({
      sourceIp: '192.0.2.1',
      reverseName: 'mail-1.sender.co.uk',
      reverseConfirmed: true,
      organizationalDomain: 'sender.co.uk',
      group: 'aligned',
      messages: 11,
      spfAligned: 10,
      firstDay: dayText(2),
      lastDay: dayText(1),
    })
    expect(days).toHaveLength(30)
    expect(days.filter(({ messages }: { messages: number }) => messages > 0)).toMatchObject([
      { day: dayText(2), messages: 10 },
      { day: dayText(1), messages: 1 },
    ])
  })

  it('shows the domains it sent as, and which of them made it pass', async () => {
    await report([
      { count: 5, envelope: ['bounces.example.test', 'pass'] },
      { count: 3, dkim: 'fail', spf: 'fail', envelope: ['bulk.test', 'pass'], selector: 'old' },
      { count: 2, from: 'news.example.test' },
    ])
    const { identities } = await source()
    expect(identities).toEqual({
      from: [
        { domain: 'example.test', messages: 8 },
        { domain: 'news.example.test', messages: 2 },
      ],
      signers: [
        {
          domain: 'example.test',
          selector: 's1',
          result: 'pass',
          own: true,
          messages: 7,
          aligned: 7,
        },
        {
          domain: 'example.test',
          selector: 'old',
          result: 'fail',
          own: true,
          messages: 3,
          aligned: 0,
        },
      ],
      envelopes: [
        { domain: 'bounces.example.test', result: 'pass', own: true, messages: 5, aligned: 5 },
        { domain: 'bulk.test', result: 'pass', own: false, messages: 3, aligned: 0 },
        { domain: 'news.example.test', result: 'pass', own: true, messages: 2, aligned: 2 },
      ],
      unsigned: 0,
      records: 3,
      recordCount: 3,
    })
  })

  it('is found by any spelling of its address', async () => {
    await report([{ ip: '2001:DB8:0:0::7', count: 2 }])
    expect((await source('2001:db8:0::0:7')).source).toMatchObject({
      sourceIp: '2001:db8::7',
      messages: 2,
    })
    expect((await records('', '2001%3Adb8%3A%3A7')).records).toMatchObject([
      { sourceIp: '2001:db8::7', count: 2 },
    ])
    expect(await ask('mail.example.test')).toMatchObject({
      status: 400,
      body: { code: 'invalid_request' },
    })
  })

  it('lists its records with their reports, newest first, in pages', async () => {
    for (const days of [3, 2, 1]) {
      await report([{ count: days }, { ip: '192.0.2.11' }], {
        begin: daysAgo(days),
        org: `day-${days}`,
      })
    }
    const { records: found, pagination } = await records('?limit=2')
    expect(pagination).toEqual({ page: 1, total: 3, totalPages: 2 })
    expect(found).toMatchObject([
      { sourceIp: '192.0.2.1', count: 1, result: 'pass', report: { orgName: 'day-1' } },
      {
        count: 2,
        report: { orgName: 'day-2', dateRange: { begin: `${dayText(2)}T00:00:00.000Z` } },
      },
    ])
    expect((await records('?limit=2&page=2')).records).toMatchObject([
      { count: 3, report: { orgName: 'day-3' } },
    ])
    expect((await records('?page=9')).pagination).toEqual({ page: 9, total: 3, totalPages: 1 })
  })

  it('filters the records by result, reporter and day', async () => {
    await report([{ count: 1 }, { count: 2, dkim: 'fail', spf: 'fail' }], { org: 'Yahoo' })
    await report([{ count: 4 }], { org: 'Google', begin: daysAgo(5) })
    const counts = async (query: string) =>
      (await records(query)).records.map(({ count }: { count: number }) => count)
    expect(await counts('?result=fail')).toEqual([2])
    expect(await counts('?result=pass')).toEqual([1, 4])
    expect(await counts('?orgName=google')).toEqual([4])
    expect(await counts(`?from=${dayText(2)}`)).toEqual([1, 2])
    expect(await counts(`?to=${dayText(4)}`)).toEqual([4])
  })

  it('finds a report on a week for each of its days', async () => {
    await report([{ count: 70 }], { begin: daysAgo(8), end: daysAgo(1) - 1 })
    expect((await records(`?from=${dayText(3)}`)).records).toMatchObject([{ count: 70 }])
    expect((await records(`?from=${dayText(1)}`)).records).toEqual([])
  })

  it('excludes records of other domains, as the sums do', async () => {
    await report([
      { count: 1 },
      { count: 9, from: 'other.test' },
      { count: 9, from: 'notexample.test' },
    ])
    expect((await records()).records).toMatchObject([{ count: 1 }])
    expect((await source()).source.messages).toBe(1)
  })

  it('finds the same records of an earlier version, before and after they are indexed', async () => {
    for (const days of [3, 2])
      await report(
        [
          { count: days },
          { count: 20 + days, dkim: 'fail', spf: 'fail' },
          { count: 9, from: 'other.test' },
          { ip: '192.0.2.11', count: 7 },
          { count: 30 + days, from: 'news.example.test', dkim: 'fail' },
        ],
        { begin: daysAgo(days) },
      )
    const index = async () =>
      (await portreeve.pool.query('select sources, passed from dmarc_records order by report_id'))
        .rows
    const found = async () =>
      Promise.all([
        source(),
        ...['', '?result=fail', '?result=pass', '?page=2&limit=2'].map((query) => records(query)),
      ])
    const [stored, wanted] = [await index(), await found()]
    expect(wanted[2].pagination.total).toBe(2)
    expect(stored.at(-1)).toEqual({
      sources: ['192.0.2.1', '192.0.2.1', null, '192.0.2.11', '192.0.2.1'],
      passed: '10111',
    })
    await portreeve.pool.query('update dmarc_records set sources = null, passed = null')
    expect(await found()).toEqual(wanted)
    await portreeve.run('dmarc.index-records')
    expect(await index()).toEqual(stored)
  })

  it('has no source for an address without messages', async () => {
    const { source: found, advice: told, identities } = await source('192.0.2.99')
    expect(found).toBeNull()
    expect(told).toMatchObject({ verdict: 'no-data', steps: [] })
    expect(identities).toMatchObject({ from: [], records: 0 })
  })

  it('is hidden from other accounts', async () => {
    await report([{ count: 1 }])
    const charlie = await portreeve.addPerson('Charlie')
    for (const rest of ['192.0.2.1', '192.0.2.1/records']) {
      expect(await ask(rest, charlie)).toMatchObject({ status: 404, body: { code: 'not_found' } })
      expect(await portreeve.ask(`domains/${id}/sources/${rest}`)).toMatchObject({ status: 401 })
    }
  })
})

const IP = '192.0.2.1'

type Mail = {
  dkim?: [domain: string, result: string][]
  spf?: [domain: string, result: string]
  aligned?: ('dkim' | 'spf')[]
  /** The published alignment. */
  mode?: 'r' | 's'
}

function record({ dkim = [], spf, aligned = [], mode = 'r' }: Mail) {
  const by = (name: 'dkim' | 'spf') => (aligned.includes(name) ? 'pass' : 'fail')
  const found: AggregateRecord = {
    sourceIp: IP,
    count: 1,
    policyEvaluated: { disposition: 'none', dkim: by('dkim'), spf: by('spf'), reasons: [] },
    identifiers: { headerFrom: 'example.com', envelopeFrom: null, envelopeTo: null },
    authResults: {
      dkim: dkim.map(([domain, result]) => ({ domain, selector: 's1', result, humanResult: null })),
      spf: spf ? [{ domain: spf[0], scope: 'mfrom', result: spf[1], humanResult: null }] : [],
    },
  }
  return { ...found, report: { adkim: mode, aspf: mode } }
}

function advice(
  mails: Mail[],
  group: 'aligned' | 'partly-aligned' | 'failing' | 'forwarder-like',
  ip = IP,
) {
  const all = mails.map(record)
  const failed = all.filter(
    ({ policyEvaluated: { dkim, spf } }) => dkim !== 'pass' && spf !== 'pass',
  )
  const passedBy = (name: 'dkim' | 'spf') =>
    mails.filter(({ aligned }) => aligned?.includes(name)).length
  const counts = {
    group,
    messages: all.length,
    aligned: all.length - failed.length,
    dkim: passedBy('dkim'),
    spf: passedBy('spf'),
  }
  return adviseOnSource('example.com', ip, counts, {
    all: sumIdentities(all, 'example.com'),
    failed: sumIdentities(failed, 'example.com'),
  })
}

describe('the advice on a source', () => {
  const texts = (found: ReturnType<typeof advice>) => found.steps.map(({ text }) => text).join('\n')

  it('has no steps if DKIM passes, with or without SPF', () => {
    const both: Mail = {
      dkim: [['example.com', 'pass']],
      spf: ['example.com', 'pass'],
      aligned: ['dkim', 'spf'],
    }
    expect(advice([both], 'aligned')).toMatchObject({ verdict: 'good', steps: [] })
    expect(advice([{ ...both, aligned: ['dkim'] }], 'aligned')).toMatchObject({
      verdict: 'good',
      steps: [],
    })
  })

  it('recommends DKIM if messages pass only by SPF', () => {
    const found = advice([{ spf: ['example.com', 'pass'], aligned: ['spf'] }], 'aligned')
    expect(found.verdict).toBe('half')
    expect(texts(found)).toContain(
      'It does not sign with DKIM. Set up DKIM signing for example.com',
    )
    expect(texts(found)).toContain(
      'Its envelope sender uses example.com, and SPF passes. Keep it as it is.',
    )
  })

  it('recommends DKIM for the own domain if a service signs as itself', () => {
    const found = advice(
      [{ dkim: [['bulk.test', 'pass']], spf: ['bounces.bulk.test', 'pass'] }],
      'failing',
    )
    expect(found).toMatchObject({
      verdict: 'failing',
      otherwise: expect.stringContaining('spoofing your domain'),
    })
    expect(texts(found)).toContain('It signs as bulk.test, which does not align with example.com.')
    expect(texts(found)).toContain(
      'Its envelope sender uses bounces.bulk.test, with the SPF result pass.',
    )
  })

  it('recommends checking the key if the signature is not valid', () => {
    const found = advice(
      [{ dkim: [['example.com', 'fail']], spf: ['bulk.test', 'none'] }],
      'partly-aligned',
    )
    expect(texts(found)).toContain('Check that s1._domainkey.example.com has the matching key')
  })

  it.each([
    ['192.0.2.1', 'ip4:192.0.2.1'],
    ['2001:db8::1', 'ip6:2001:db8::1'],
  ])('recommends adding %s to the SPF record that does not allow it', (ip, value) => {
    const { steps } = advice([{ spf: ['mail.example.com', 'softfail'] }], 'failing', ip)
    expect(steps.at(1)?.publish).toEqual({ name: 'mail.example.com', type: 'TXT', value })
  })

  it('names strict alignment if it causes the failure', () => {
    const mail: Mail = {
      dkim: [['news.example.com', 'pass']],
      spf: ['news.example.com', 'pass'],
      mode: 's',
    }
    expect(texts(advice([mail], 'failing'))).toMatch(/adkim=s.*\n.*aspf=s/)
  })

  it('recommends adding a forwarder-like source to SPF if it is the owner’s server', () => {
    const mail: Mail = {
      dkim: [['example.com', 'pass']],
      spf: ['example.com', 'softfail'],
      aligned: ['dkim'],
    }
    const found = advice([mail], 'forwarder-like')
    expect(found.steps).toMatchObject([{ publish: { value: 'ip4:192.0.2.1' } }])
    expect(found.otherwise).toContain('No action needed.')
  })

  it('has no steps for forwarders', () => {
    expect(advice([{ spf: ['list.test', 'pass'] }], 'forwarder-like')).toMatchObject({
      verdict: 'forwarder',
      steps: [],
      otherwise: expect.stringContaining('cannot'),
    })
  })
})
