import { describe, expect, it } from 'vitest'
import type { DnsFailure } from '../../../src/net/dns.ts'
import { checkDestinations } from '../../../src/protocols/dmarc/report-destinations.ts'
import { discoverDmarc, treeWalkNames } from '../../../src/protocols/dmarc/dmarc-discovery.ts'
import { createDnsQueries } from '../../../src/protocols/dns-queries.ts'
import { mapResolver } from '../../resolver.ts'
import type { Records } from '../../servers/dns-records.ts'

const ask = (records: Records, failures?: Record<string, DnsFailure>) =>
  createDnsQueries(mapResolver(records, failures), new AbortController().signal)

const discover = (domain: string, records: Records, failures?: Record<string, DnsFailure>) =>
  discoverDmarc(domain, ask(records, failures))

describe('the tree walk', () => {
  it('queries the eight names of the example in RFC 9989', () => {
    expect(treeWalkNames('a.b.c.d.e.f.g.h.i.j.mail.example.com')).toEqual([
      'a.b.c.d.e.f.g.h.i.j.mail.example.com',
      'g.h.i.j.mail.example.com',
      'h.i.j.mail.example.com',
      'i.j.mail.example.com',
      'j.mail.example.com',
      'mail.example.com',
      'example.com',
      'com',
    ])
  })

  it('queries every ancestor of a name with eight labels or fewer', () => {
    expect(treeWalkNames('a.b.c.d.e.f.g.example')).toHaveLength(8)
    expect(treeWalkNames('a.b.c.d.e.f.g.example')[1]).toBe('b.c.d.e.f.g.example')
    expect(treeWalkNames('a.mail.example.com')).toEqual([
      'a.mail.example.com',
      'mail.example.com',
      'example.com',
      'com',
    ])
    expect(treeWalkNames('com')).toEqual(['com'])
  })

  it('finds the organisation by the fewest labels', async () => {
    const found = await discover('a.mail.example.com', {
      '_dmarc.mail.example.com TXT': ['v=DMARC1; p=none'],
      '_dmarc.example.com TXT': ['v=DMARC1; p=reject; sp=quarantine'],
      'a.mail.example.com A': ['192.0.2.1'],
    })
    expect(found).toMatchObject({
      organizationalDomain: 'example.com',
      policyDomain: 'example.com',
      standing: 'subdomain',
      effectivePolicy: 'quarantine',
    })
  })

  it('stops at psd=n: that is the organisation', async () => {
    const found = await discover('a.mail.example.com', {
      '_dmarc.mail.example.com TXT': ['v=DMARC1; p=none; psd=n'],
      '_dmarc.example.com TXT': ['v=DMARC1; p=reject'],
      'a.mail.example.com A': ['192.0.2.1'],
    })
    expect(found).toMatchObject({
      organizationalDomain: 'mail.example.com',
      policyDomain: 'mail.example.com',
    })
    expect(found.steps).toHaveLength(2)
  })

  it('treats the name below a public suffix as the organizational domain, and uses the suffix’s record without one', async () => {
    const found = await discover('a.mail.example.com', {
      '_dmarc.com TXT': ['v=DMARC1; p=reject; sp=quarantine; np=reject; psd=y'],
      'a.mail.example.com A': ['192.0.2.1'],
    })
    expect(found).toMatchObject({
      organizationalDomain: 'example.com',
      policyDomain: 'com',
      effectivePolicy: 'quarantine',
    })
  })

  it('ignores the suffix’s record when the organizational domain has one', async () => {
    const found = await discover('a.example.com', {
      '_dmarc.example.com TXT': ['v=DMARC1; p=none'],
      '_dmarc.com TXT': ['v=DMARC1; p=reject; psd=y'],
    })
    expect(found).toMatchObject({
      organizationalDomain: 'example.com',
      policyDomain: 'example.com',
    })
  })

  it('does not treat the name itself as a suffix above it', async () => {
    const found = await discover('example.com', {
      '_dmarc.example.com TXT': ['v=DMARC1; p=reject; psd=y'],
    })
    expect(found).toMatchObject({
      organizationalDomain: 'example.com',
      policyDomain: 'example.com',
      standing: 'own',
    })
  })

  it('is its own organisation when there is no record anywhere', async () => {
    const found = await discover('mail.example.com', {})
    expect(found).toMatchObject({
      organizationalDomain: 'mail.example.com',
      record: null,
      effectivePolicy: null,
    })
  })
})

describe('the record that applies', () => {
  const records: Records = {
    'example.com A': ['192.0.2.1'],
    'www.example.com A': ['192.0.2.1'],
    '_dmarc.example.com TXT': ['v=DMARC1; p=reject; sp=none; np=quarantine'],
  }

  it('is the name’s own, with p', async () => {
    expect(await discover('example.com', records)).toMatchObject({
      standing: 'own',
      effectivePolicy: 'reject',
    })
  })
  it('is inherited with sp by a name that exists', async () => {
    expect(await discover('www.example.com', records)).toMatchObject({
      standing: 'subdomain',
      effectivePolicy: 'none',
    })
  })
  it('is inherited with np by a name that does not exist', async () => {
    expect(await discover('nowhere.example.com', records)).toMatchObject({
      standing: 'nonexistent',
      effectivePolicy: 'quarantine',
      policyDomain: 'example.com',
    })
  })
  it('is found behind a CNAME', async () => {
    const found = await discover('example.org', {
      '_dmarc.example.org CNAME': ['example.org.dmarc.example.net'],
      'example.org.dmarc.example.net TXT': ['v=DMARC1; p=reject'],
    })
    expect(found).toMatchObject({
      policyDomain: 'example.org',
      steps: [{ alias: 'example.org.dmarc.example.net' }, {}],
    })
  })
  it('is read from strings joined without a space', async () => {
    const found = await discover('example.org', {
      '_dmarc.example.org TXT': [['v=DMARC1; p=quar', 'antine']],
    })
    expect(found.effectivePolicy).toBe('quarantine')
  })
  it('does not exist among several', async () => {
    const found = await discover('mail.example.com', {
      ...records,
      '_dmarc.mail.example.com TXT': ['v=DMARC1; p=none', 'v=DMARC1; p=reject', 'something else'],
    })
    expect(found).toMatchObject({
      policyDomain: 'example.com',
      steps: [{ records: { length: 2 } }, {}, {}],
    })
  })
  it('is unknown when the name’s own query failed', async () => {
    const found = await discover('www.example.com', records, {
      '_dmarc.www.example.com TXT': 'SERVFAIL',
    })
    expect(found).toMatchObject({ record: null, error: 'SERVFAIL' })
  })
  it('is certain when the query of a name above it failed', async () => {
    expect(await discover('example.com', records, { '_dmarc.com TXT': 'TIMEOUT' })).toMatchObject({
      error: null,
    })
    expect(
      await discover('www.example.com', records, { '_dmarc.com TXT': 'TIMEOUT' }),
    ).toMatchObject({ error: null })
  })
  it('is uncertain when the query of a name in between failed', async () => {
    const found = await discover('a.b.example.com', records, {
      '_dmarc.b.example.com TXT': 'TIMEOUT',
    })
    expect(found).toMatchObject({ policyDomain: 'example.com', error: 'TIMEOUT' })
  })
})

describe('report destinations', () => {
  const policy = {
    '_dmarc.blue.example.com TXT': ['v=DMARC1; p=none; rua=mailto:reports@red.example.net'],
  }
  const destinations = async (records: Records, failures?: Record<string, DnsFailure>) => {
    const questions = ask({ ...policy, ...records }, failures)
    const { record, policyDomain } = await discoverDmarc('blue.example.com', questions)
    return record && policyDomain ? checkDestinations(policyDomain, record, questions) : []
  }
  const CONSENT = 'blue.example.com._report._dmarc.red.example.net'

  it('is rejected without consent at the name of RFC 9990', async () => {
    expect(await destinations({})).toMatchObject([{ tag: 'rua', name: CONSENT, authorized: false }])
  })
  it.each([
    [{ [`${CONSENT} TXT`]: ['v=DMARC1'] }],
    [{ [`${CONSENT} TXT`]: ['v=DMARC1;'] }],
    [{ '*._report._dmarc.red.example.net TXT': ['v=DMARC1'] }],
    [{ [`${CONSENT} TXT`]: ['v=DMARC1; rua=mailto:elsewhere@red.example.net'] }],
    [
      {
        [`${CONSENT} CNAME`]: ['yes.example.net'],
        'yes.example.net TXT': ['nonsense', 'v=DMARC1'],
      },
    ],
  ])('is authorised by %j', async (records) => {
    expect(await destinations(records)).toMatchObject([{ authorized: true }])
  })
  it.each(['v=dmarc1', 'yes', 'v=DMARC1; rua=mailto:victim@example.org'])(
    'is not authorised by %j',
    async (text) => {
      expect(await destinations({ [`${CONSENT} TXT`]: [text] })).toMatchObject([
        { authorized: false },
      ])
    },
  )
  it('is not reported as rejected when the query failed', async () => {
    expect(await destinations({}, { [`${CONSENT} TXT`]: 'SERVFAIL' })).toMatchObject([
      { authorized: null, error: 'SERVFAIL' },
    ])
  })
  it('needs no consent inside the organisation', async () => {
    const inside = ask({
      '_dmarc.example.com TXT': [
        'v=DMARC1; p=none; rua=mailto:a@mail.example.com,mailto:b@example.com',
      ],
    })
    const { record } = await discoverDmarc('example.com', inside)
    expect(record && (await checkDestinations('example.com', record, inside))).toMatchObject([
      { name: null, authorized: true },
      { name: null, authorized: true },
    ])
  })
  it('reports when the public suffix list sees one organizational domain where the tree walk sees two', async () => {
    const split = ask({
      '_dmarc.news.example.com TXT': ['v=DMARC1; p=none; rua=mailto:a@example.com'],
    })
    const { record } = await discoverDmarc('news.example.com', split)
    expect(record && (await checkDestinations('news.example.com', record, split))).toMatchObject([
      { authorized: false, sameByPublicSuffix: true },
    ])
  })
  it('is looked up for ten addresses at most', async () => {
    const many = Array.from({ length: 500 }, (_, index) => `mailto:a@host${index}.example`).join(
      ',',
    )
    const resolver = mapResolver({ '_dmarc.example.com TXT': [`v=DMARC1; p=none; rua=${many}`] })
    const questions = createDnsQueries(resolver, new AbortController().signal)
    const { record } = await discoverDmarc('example.com', questions)
    expect(record && (await checkDestinations('example.com', record, questions))).toHaveLength(10)
    expect(resolver.asked.length).toBeLessThan(100)
  })
})
