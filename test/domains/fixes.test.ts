import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gatherDmarc } from '../../src/diagnostics/mail-auth/mail-auth-facts.ts'
import { composeFixes } from '../../src/domains/fixes/compose-fixes.ts'
import { dkimProposals } from '../../src/domains/fixes/dkim-fix.ts'
import { dmarcProposals } from '../../src/domains/fixes/dmarc-fix.ts'
import { propose, type Proposal } from '../../src/domains/fixes/proposal.ts'
import { spfProposals } from '../../src/domains/fixes/spf-fix.ts'
import type { DomainFix } from '../../src/domains/shapes.ts'
import { probeSelectors } from '../../src/protocols/dkim/probe-selectors.ts'
import { createDnsQueries } from '../../src/protocols/dns-queries.ts'
import { adviceOnDmarc, RESTORED } from '../../src/protocols/dmarc/dmarc-advice.ts'
import { DMARC_POLICIES, parseDmarc } from '../../src/protocols/dmarc/dmarc-record.ts'
import { adviceOnSpf } from '../../src/protocols/spf/spf-advice.ts'
import { parseSpf } from '../../src/protocols/spf/spf-record.ts'
import { walkSpf } from '../../src/protocols/spf/spf-tree.ts'
import { parseTagList } from '../../src/protocols/tag-list.ts'
import { rsaKey } from '../diagnostics/mail-domain.ts'
import { propertyRuns } from '../property-runs.ts'
import { mapResolver } from '../resolver.ts'
import type { Records } from '../servers/dns-records.ts'

const queriesOf = (records: Records) =>
  createDnsQueries(mapResolver(records), new AbortController().signal)

const DOMAIN = 'example.com'
const EXISTING: Records = {
  'example.com A': ['192.0.2.1'],
  'example.com MX': ['10 mail.example.com'],
}

type Known = Partial<Pick<Parameters<typeof dmarcProposals>[0], 'reportEmail' | 'safePolicy'>>

async function dmarcFixes(
  texts: string[],
  records: Records = {},
  usesMail = true,
  known: Known = {},
) {
  const queries = queriesOf({ ...EXISTING, '_dmarc.example.com TXT': texts, ...records })
  const { dmarc: discovery, destinations } = await gatherDmarc(DOMAIN, queries)
  const about = { discovery, destinations, usesMail, receivesMail: usesMail }
  const advice = adviceOnDmarc({ ...about, texts: [], registeredDomain: DOMAIN })
  const none = { reportEmail: null, safePolicy: null }
  return composeFixes(dmarcProposals({ ...about, advice, ...none, ...known }))
}

async function spfFixes(texts: string[], records: Records = {}) {
  const queries = queriesOf({ ...EXISTING, 'example.com TXT': texts, ...records })
  const tree = await walkSpf(DOMAIN, queries)
  const mailUse = { receives: 'mx' as const, exchanges: ['mail.example.com'], error: null }
  const advice = adviceOnSpf({
    domain: DOMAIN,
    tree,
    texts,
    mailUse,
    include: null,
    sendsMail: true,
    hasObsoleteType: false,
  })
  return composeFixes(spfProposals({ domain: DOMAIN, tree, texts, advice }))
}

const only = (fixes: DomainFix[]) => {
  expect(fixes).toHaveLength(1)
  return fixes[0] as DomainFix
}

describe('the fix of a DMARC record', () => {
  it('keeps every tag that no reason names, in its place', async () => {
    const published =
      'v=DMARC1; pct=100; p=reject; ri=3600; rua=a@example.com; sp=reject; fo=1; v2=x'
    const fix = only(await dmarcFixes([published]))
    expect(fix.value).toBe(
      'v=DMARC1; p=reject; pct=100; ri=3600; rua=mailto:a@example.com; sp=reject; fo=1; v2=x',
    )
    expect(fix.changes.map(({ removed, added }) => [removed, added])).toEqual([
      ['rua=a@example.com', 'rua=mailto:a@example.com'],
      [null, null],
    ])
  })

  it('raises a policy on trial to one on trial', async () => {
    const text = 'v=DMARC1; p=none; pct=10; rua=mailto:a@example.com'
    const fix = only(await dmarcFixes([text], {}, true, { safePolicy: 'quarantine' }))
    expect(fix.value).toBe('v=DMARC1; p=quarantine; pct=10; rua=mailto:a@example.com; t=y')
  })

  it('never drops pct silently: a policy on trial stays on trial everywhere', async () => {
    const fix = only(await dmarcFixes(['v=DMARC1; p=reject; pct=50; rua=mailto:a@example.com']))
    expect(fix.value).toBe('v=DMARC1; p=reject; pct=50; rua=mailto:a@example.com; t=y')
    expect(fix.changes).toEqual([
      { removed: null, added: 't=y', reason: expect.stringMatching(/pct=50/) },
    ])
    expect(await dmarcFixes([fix.value])).toEqual([])
  })

  it('raises the policy only when nothing else is wrong, and reports arrive', async () => {
    const first = only(await dmarcFixes(['v=DMARC1; p=none']))
    expect(first.value).toBe('v=DMARC1; p=none; rua=mailto:dmarc-reports@example.com')
    expect(first.caution).toMatch(/address that exists/)
    // Without reports, nothing shows that a stricter policy is safe.
    expect(await dmarcFixes([first.value])).toEqual([])
    const known = { safePolicy: 'reject' } as const
    const second = only(await dmarcFixes([first.value], {}, true, known))
    expect(second.value).toBe('v=DMARC1; p=reject; rua=mailto:dmarc-reports@example.com')
    expect(await dmarcFixes([second.value], {}, true, { safePolicy: 'quarantine' })).toEqual([])
  })

  it('adds the address of this installation to those that are there, and changes nothing else', async () => {
    const known = { reportEmail: 'r1@reports.test' }
    const text = 'v=DMARC1; p=none; pct=10; rua=mailto:a@example.com; x=1'
    const fix = only(await dmarcFixes([text], {}, true, known))
    expect(fix.value).toBe(
      'v=DMARC1; p=none; pct=10; rua=mailto:a@example.com,mailto:r1@reports.test; x=1',
    )
    expect(fix.severity).toBe('suggestion')
    const consent = { 'example.com._report._dmarc.reports.test TXT': ['v=DMARC1;'] }
    expect(await dmarcFixes([fix.value], consent, true, known)).toEqual([])
    const several = ['v=DMARC1; p=none; rua=mailto:a@example.com', 'v=DMARC1; p=reject']
    expect(only(await dmarcFixes(several, {}, true, known)).value).toBe(
      'v=DMARC1; p=reject; rua=mailto:a@example.com,mailto:r1@reports.test',
    )
    const first = only(await dmarcFixes([], {}, true, known))
    expect(first).toMatchObject({
      value: 'v=DMARC1; p=none; rua=mailto:r1@reports.test',
      caution: null,
    })
  })

  it('is one record in place of several, with the strictest policy and all report addresses', async () => {
    const texts = [
      'v=DMARC1; p=none; rua=mailto:a@example.com',
      'v=DMARC1; p=reject; rua=mailto:b@example.com',
    ]
    const fix = only(await dmarcFixes(texts))
    expect(fix.published).toEqual(texts)
    expect(fix.value).toBe('v=DMARC1; p=reject; rua=mailto:a@example.com,mailto:b@example.com')
  })

  it.each([
    ['"v=DMARC1; p=none; rua=mailto:a@example.com"', 'v=DMARC1; p=none; rua=mailto:a@example.com'],
    [
      'v=dmarc1; p=reject; rua=mailto:a@example.com',
      'v=DMARC1; p=reject; rua=mailto:a@example.com',
    ],
  ])('repairs %s', async (published, value) => {
    expect(only(await dmarcFixes([published]))).toMatchObject({ published: [published], value })
  })

  const anyText = fc
    .record({
      version: fc.constantFrom('v=DMARC1', 'v=DMARC1', 'v=DMARC1', 'V=dmarc1', '"v=DMARC1'),
      policy: fc.constantFrom('p=none', 'p=quarantine', 'p=reject', 'P=reject', 'p=REJECT'),
      more: fc.subarray(['t=y', 'pct=50', 'fo=1', 'adkim=s', 'rua=mailto:a@example.com', 'x=1']),
      end: fc.constantFrom('', ';'),
    })
    .map(({ version, policy, more, end }) => [version, policy, ...more].join('; ') + end)

  it('is no stricter in practice than what receivers apply, or the check says so', async () => {
    const levelOf = (text: string) => {
      const { p = null, testing = false } = parseDmarc(text) ?? {}
      return Math.max(0, DMARC_POLICIES.indexOf(p ?? 'none') - (testing ? 1 : 0))
    }
    await fc.assert(
      fc.asyncProperty(fc.array(anyText, { minLength: 1, maxLength: 2 }), async (texts) => {
        const queries = queriesOf({ ...EXISTING, '_dmarc.example.com TXT': texts })
        const { dmarc: discovery, destinations } = await gatherDmarc(DOMAIN, queries)
        const about = { discovery, destinations, usesMail: true, receivesMail: true, texts: [] }
        const advice = adviceOnDmarc({ ...about, registeredDomain: DOMAIN })
        const applied = discovery.record ? levelOf(discovery.record.text) : 0
        const isStricter = advice.some(({ publish }) => levelOf(publish?.value ?? '') > applied)
        if (isStricter) expect(advice.map(({ message }) => message).join()).toContain(RESTORED)
        for (const { publish } of advice)
          if (publish && texts.every((text) => text.includes('pct=50')))
            expect(publish.value).toMatch(/p=none|t=y; pct=50/)
      }),
      propertyRuns(60, 2_000),
    )
  })

  it('of a subdomain has all that it inherits, and the address of this installation', async () => {
    const inherited = ['adkim=s', 'aspf=s', 't=y', 'pct=50', 'fo=1', 'ruf=mailto:f@example.com']
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('none', 'quarantine', 'reject'),
        fc.constantFrom('', 'none', 'quarantine', 'reject'),
        fc.subarray(inherited),
        async (p, sp, more) => {
          const tags = [`p=${p}`, ...(sp ? [`sp=${sp}`] : []), ...more, 'rua=mailto:a@example.com']
          const name = 'mail.example.com'
          const queries = queriesOf({
            'mail.example.com A': ['192.0.2.1'],
            '_dmarc.example.com TXT': [`v=DMARC1; ${tags.join('; ')}`],
          })
          const { dmarc: discovery, destinations } = await gatherDmarc(name, queries)
          const about = { discovery, destinations, usesMail: true, receivesMail: true, advice: [] }
          const known = { reportEmail: 'r1@reports.test', safePolicy: null }
          const proposals = dmarcProposals({ ...about, ...known })
          const own = proposals.find((one) => one.name === `_dmarc.${name}`)?.value ?? ''
          const kept = more.filter((tag) => tag !== 'fo=1' || more.includes('ruf=mailto:f@example.com')) // prettier-ignore
          for (const tag of kept) expect(own.split('; ')).toContain(tag)
          expect(parseDmarc(own)).toMatchObject({ p: sp || p, sp: null, np: null })
          expect(own).toContain('rua=mailto:a@example.com,mailto:r1@reports.test')
        },
      ),
      propertyRuns(30, 500),
    )
  })

  it('has a reason for each change, and nothing changes without one', async () => {
    const tag = fc.oneof(
      fc.constantFrom(
        'p=none',
        'p=reject',
        'p=x',
        'P=reject',
        'sp=none',
        'np=none',
        'pct=50',
        'pct=100',
        't=y',
        't=q',
        'rua=a@example.com',
        'rua=mailto:a@example.com',
        'ruf=mailto:b@example.com!10m',
        'fo=1',
        'ri=1',
        'adkim=s',
        'x=1',
        'junk',
        '',
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(tag, { maxLength: 7 }), fc.boolean(), async (tags, usesMail) => {
        const text = ['v=DMARC1', ...tags].join('; ')
        const fixes = await dmarcFixes([text], {}, usesMail)
        expect(fixes.length).toBeLessThanOrEqual(1)
        const [fix] = fixes
        if (!fix) return
        const record = parseDmarc(fix.value)
        expect(record?.errors).toEqual([])
        expect(record?.invalid).toEqual([])
        const pairs = (list: { name: string; value: string }[]) =>
          list.map(({ name, value }) => `${name}=${value}`)
        const [old, next] = [pairs(parseTagList(text).tags), pairs(parseTagList(fix.value).tags)]
        const removed = fix.changes.map((change) => change.removed)
        const added = fix.changes.map((change) => change.added)
        for (const pair of old) if (!next.includes(pair)) expect(removed).toContain(pair)
        for (const pair of next) if (!old.includes(pair)) expect(added).toContain(pair)
        for (const { reason } of fix.changes) expect(reason).toMatch(/\.$/)
      }),
      { numRuns: 300 },
    )
  })

  it('asks the receiver of reports for its consent, under its own name', async () => {
    const fixes = await dmarcFixes(['v=DMARC1; p=reject; rua=mailto:a@reports.example.net'], {
      'reports.example.net MX': ['10 mail.example.net'],
    })
    expect(fixes).toMatchObject([
      {
        name: 'example.com._report._dmarc.reports.example.net',
        value: 'v=DMARC1;',
        caution: expect.stringMatching(/operator/),
      },
    ])
  })
})

describe('the fix of an SPF record', () => {
  it('is one record in place of several; a redirect becomes an include', async () => {
    const fix = only(
      await spfFixes(['v=spf1 ip4:192.0.2.1 ~all', 'v=spf1 a redirect=_spf.example.net'], {
        '_spf.example.net TXT': ['v=spf1 ip4:192.0.2.2 -all'],
      }),
    )
    expect(fix.value).toBe('v=spf1 ip4:192.0.2.1 a include:_spf.example.net ~all')
    expect(fix.published).toHaveLength(2)
    expect(fix.changes.map(({ removed, added }) => removed ?? added)).toContain(
      'redirect=_spf.example.net',
    )
  })

  it('keeps a record that is in order', async () => {
    expect(await spfFixes(['v=spf1 mx -all', 'google-site-verification=x'])).toEqual([])
  })

  it('has a reason for each term that goes or comes', async () => {
    const term = fc.constantFrom(
      'mx',
      'a',
      'ip4:192.0.2.1',
      'ip4:0.0.0.0/0',
      'ip:192.0.2.9',
      'ip6:::/0',
      'include:x.example.net',
      'ptr',
      '+all',
      '-all',
      '?all',
      'all',
      'exp=e.example.com',
      'redirect=x.example.net',
      'ra=x',
      'nonsense',
      'include=x.example.net',
      'mx',
    )
    const record = fc.array(term, { maxLength: 6 }).map((terms) => ['v=spf1', ...terms].join(' '))
    await fc.assert(
      fc.asyncProperty(fc.array(record, { minLength: 1, maxLength: 3 }), async (texts) => {
        const fixes = await spfFixes([...new Set(texts)])
        expect(fixes.length).toBeLessThanOrEqual(1)
        const [fix] = fixes
        if (!fix) return
        expect(parseSpf(fix.value).errors).toEqual([])
        const old = texts.flatMap((text) => text.split(' ').slice(1))
        const next = fix.value.split(' ').slice(1)
        const removed = fix.changes.map((change) => change.removed)
        const added = fix.changes.map((change) => change.added)
        for (const one of old) if (!next.includes(one)) expect(removed).toContain(one)
        for (const one of next) if (!old.includes(one)) expect(added).toContain(one)
        for (const { reason } of fix.changes) expect(reason).toMatch(/\.$/)
      }),
      { numRuns: 300 },
    )
  })
})

describe('the fix of a DKIM key', () => {
  it('removes the test mode and repairs the spelling in one record', async () => {
    const key = rsaKey(2048).replace('v=DKIM1; k=rsa', 'k=rsa; t=y:s; v=DKIM1')
    const queries = queriesOf({ 'mail._domainkey.example.com TXT': [key] })
    const probe = await probeSelectors(DOMAIN, { asked: ['mail'], providers: [] }, queries)
    const fix = only(composeFixes(dkimProposals(DOMAIN, probe)))
    expect(fix.name).toBe('mail._domainkey.example.com')
    expect(fix.value).toMatch(/^v=DKIM1; k=rsa; t=s; p=/)
    expect(fix.changes).toHaveLength(2)
  })
})

describe('composed fixes', () => {
  const proposal = (fields: Partial<Proposal>): Proposal => ({
    ...propose({
      name: '1.2.0.192.in-addr.arpa',
      type: 'PTR',
      line: 'reverse-dns',
      severity: 'warning',
      value: 'mail.example.com',
      changes: [{ removed: null, added: 'mail.example.com', reason: 'One.' }],
    }),
    ...fields,
  })

  it('never have two records for one name and type', () => {
    const fixes = composeFixes([
      proposal({}),
      proposal({ name: '1.2.0.192.IN-ADDR.ARPA', value: 'mx.example.com', severity: 'bad' }),
      proposal({}),
    ])
    expect(fixes).toMatchObject([
      { value: 'mx.example.com', caution: expect.stringMatching(/mail\.example\.com.*left out/) },
    ])
  })

  it('are ordered by urgency, then by the order of the lines', () => {
    const fixes = composeFixes([
      proposal({ name: 'a', severity: 'suggestion' }),
      proposal({ name: 'b', line: 'dane', severity: 'bad' }),
      proposal({ name: 'c', line: 'spf', severity: 'bad' }),
    ])
    expect(fixes.map(({ name }) => name)).toEqual(['c', 'b', 'a'])
  })

  it('leave out what is published already, and what is too long to publish', () => {
    expect(
      composeFixes([
        proposal({ published: ['mail.example.com'] }),
        proposal({ name: 'x', value: 'y'.repeat(5_000) }),
      ]),
    ).toEqual([])
  })
})
