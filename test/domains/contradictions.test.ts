import * as fc from 'fast-check'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkMailAuth } from '../../src/diagnostics/mail-auth/mail-auth.ts'
import { checkDomain } from '../../src/domains/check-domain.ts'
import type { DomainDeps } from '../../src/domains/domain-context.ts'
import type { DomainFix } from '../../src/domains/shapes.ts'
import { Fault } from '../../src/errors.ts'
import { createLog } from '../../src/log.ts'
import { parseDkimKey } from '../../src/protocols/dkim/dkim-key.ts'
import { DMARC_POLICIES, parseDmarc } from '../../src/protocols/dmarc/dmarc-record.ts'
import { parseStsRecord } from '../../src/protocols/mail/mta-sts.ts'
import { parseTlsRpt } from '../../src/protocols/mail/tls-rpt.ts'
import { isSpf, parseSpf } from '../../src/protocols/spf/spf-record.ts'
import { propertyRuns } from '../property-runs.ts'
import { mapResolver } from '../resolver.ts'
import { startTlsServer, type TcpServer } from '../servers/tls.ts'
import { registeredUntil } from './check-with.ts'
import { contradictions, sentencesOf, withoutNames, type Page } from './contradictions.ts'
import {
  CERTIFICATES,
  intermediate,
  root,
  zones,
  type RandomZone,
  type ServerKind,
} from './zone-arbitrary.ts'

let ports: Record<ServerKind, number>
const servers: TcpServer[] = []
beforeAll(async () => {
  setDefaultCACertificates([...getCACertificates('default'), root.cert])
  const { valid, 'self-signed': other } = CERTIFICATES
  const chain = { key: valid.key, cert: valid.cert + intermediate.cert }
  for (const wish of [chain, other, { ...other, script: WITHOUT_TLS }])
    servers.push(await startTlsServer({ script: MAIL_SERVER, ...wish, host: '0.0.0.0' }))
  const [first, second, third] = servers.map(({ port }) => port) as [number, number, number]
  ports = { closed: 1, plain: third, valid: first, 'self-signed': second }
})
const roots = getCACertificates('default')
afterAll(async () => {
  setDefaultCACertificates(roots)
  await Promise.all(servers.map((server) => server.close()))
})

const WITHOUT_TLS = { greeting: '220 mail\r\n', replies: [{ to: /^EHLO/, say: '250 mail\r\n' }] }
const MAIL_SERVER = {
  greeting: '220 mail\r\n',
  replies: [
    { to: /^EHLO/, say: '250-mail.example.test\r\n250 STARTTLS\r\n' },
    { to: /^STARTTLS/, say: '220 go ahead\r\n', upgrade: true as const },
  ],
}

/** The page of a zone and the check of its mail; without blocklists, and with mail servers only. */
async function check(zone: RandomZone, { isRepaired = false } = {}): Promise<Page> {
  const { domain, records, failures, isSigned, server } = zone
  const resolver = mapResolver(records, failures, () => isSigned)
  const deps: DomainDeps = {
    resolver,
    blocklists: { lists: [] } as unknown as DomainDeps['blocklists'],
    domainLists: { check: async () => [] },
    registrations: registeredUntil(new Date(Date.now() + 300 * 86_400_000)),
    allowPrivate: true,
    log: createLog('silent'),
    ports: { smtp: ports[server], submission: 1, imaps: 1, https: 1 },
  }
  const signal = new AbortController().signal
  const fetchFile = async () => {
    throw new Fault('upstream_unreachable', 'Nothing is there.')
  }
  const [report, { warnings }] = await Promise.all([
    checkDomain(domain, deps, signal),
    isRepaired
      ? { warnings: [] }
      : checkMailAuth({ domain }, { resolver, fetchFile }, signal).catch(withoutAnswers),
  ])
  return { report, warnings }
}

/** Where no query for the mail of a domain is answered, there is no check. */
function withoutAnswers(error: unknown): Pick<Page, 'warnings'> {
  if (error instanceof Fault) return { warnings: [] }
  throw error
}

/** What presupposes that the domain sends mail. */
const FOR_SENDERS =
  /Find “s=”|has no DKIM signature|Turn on DKIM|DKIM keys? found:|an address that you read/
const WITHOUT_MAIL = /^The domain (?:does not use mail|sends no mail)\./

function problemsOf(page: Page): string[] {
  const { report } = page
  const sentences = sentencesOf(report)
  const repeated = [...Map.groupBy(sentences, withoutNames)].flatMap(([text, all]) =>
    all.length > 3 ? [`${all.length} × ${text}`] : [],
  )
  const silent = report.lines.filter(
    ({ name, state }) =>
      state === 'good' &&
      report.fixes.some((fix) => fix.line === name && fix.severity !== 'suggestion'),
  )
  const forNobody = sentences.some((text) => WITHOUT_MAIL.test(text))
    ? sentences.filter((text) => FOR_SENDERS.test(text))
    : []
  return [
    ...contradictions(page),
    ...repeated,
    ...silent.map(({ title }) => `${title} is good, and has a fix`),
    ...forNobody.map((text) => `the domain sends no mail, and “${text}”`),
    ...report.fixes.flatMap(wrongFix),
  ]
}

const strength = (policy: string | null | undefined) =>
  DMARC_POLICIES.indexOf((policy ?? 'none') as (typeof DMARC_POLICIES)[number])

/** Why a fix must not be published. */
function wrongFix({ name, type, value, published, changes }: DomainFix): string[] {
  if (type !== 'TXT') return []
  const wrong = (why: string) => [`the fix “${value}” of ${name} ${why}`]
  if (changes.length === 0) return wrong('has no reason')
  if (name.includes('_domainkey.')) {
    const key = parseDkimKey(value)
    return key && key.errors.length === 0 ? [] : wrong('is no key')
  }
  if (name.startsWith('_mta-sts.')) {
    const record = parseStsRecord(value)
    return record?.id && record.problem === undefined ? [] : wrong('is no MTA-STS record')
  }
  if (name.startsWith('_smtp._tls.')) {
    const record = parseTlsRpt(value)
    const isValid =
      record && record.errors.length + record.invalid.length + record.repeated.length === 0
    return isValid && record.rua.length > 0 ? [] : wrong('is no TLS reporting record')
  }
  if (!name.includes('_dmarc.'))
    return isSpf(value) && parseSpf(value).errors.length === 0 ? [] : wrong('is no SPF record')
  const record = parseDmarc(value)
  if (!record || record.errors.length + record.invalid.length > 0)
    return wrong('is no DMARC record')
  if (!name.startsWith('_dmarc.')) return []
  const words = published.flatMap((text) => text.match(/\b(?:none|quarantine|reject)\b/g) ?? [])
  const strongest = Math.max(...[record.p, record.sp, record.np].map(strength))
  return words.some((word) => strength(word) > strongest)
    ? wrong('is weaker than what is published')
    : []
}

/** The zone after its owner has published the fixes. */
function publish(zone: RandomZone, fixes: DomainFix[]): RandomZone {
  const next = { ...zone.records }
  for (const { name, type, published, value } of fixes) {
    const before = (next[`${name} ${type}`] ?? []).map((text) =>
      typeof text === 'string' ? text : text.join(''),
    )
    next[`${name} ${type}`] = [...before.filter((text) => !published.includes(text)), value]
  }
  return { ...zone, records: next }
}

describe('the page of a domain', () => {
  it('does not contradict itself, and its fixes work', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(zones, async (zone) => {
        const page = await check(zone)
        const { report } = page
        expect(problemsOf(page)).toEqual([])
        const mended = report.fixes.filter(({ severity }) => severity === 'bad')
        if (mended.length === 0) return
        // What is published is not proposed again, and not called broken.
        const after = await check(publish(zone, report.fixes), { isRepaired: true })
        expect(problemsOf(after)).toEqual([])
        const names = mended.map(({ name }) => name)
        const again = after.report.fixes.filter(({ severity }) => severity === 'bad')
        expect(again.filter(({ name }) => names.includes(name))).toEqual([])
      }),
      propertyRuns(300, 5_000),
    )
  })
})

type Line = Page['report']['lines'][number]

/** A page with these lines. */
function pageOf(lines: (Partial<Line> & Pick<Line, 'name' | 'state'>)[], more: Partial<Page> = {}) {
  const report: Page['report'] = {
    verdict: { state: 'bad', sentence: '' } as Page['report']['verdict'],
    lines: lines.map((line) => ({
      title: line.name,
      isUsed: true,
      summary: '',
      details: [],
      evidence: [],
      ...line,
    })) as unknown as Line[],
    fixes: [],
  }
  return { report, warnings: [], ...more }
}
const saying = (...sentences: string[]) =>
  pageOf(sentences.map((summary) => ({ name: 'mx', state: 'unknown', summary })))
const RECORD = { label: 'a.test TXT', value: 'v=spf1' }
const PAGES: [string, Page][] = [
  ['a record', pageOf([{ name: 'spf', state: 'good', evidence: [{ ...RECORD, state: 'good' }] }, { name: 'mx', state: 'bad', evidence: [{ ...RECORD, state: 'bad' }] }])], // prettier-ignore
  ['a line and a warning', pageOf([{ name: 'spf', state: 'good' }], { warnings: [{ about: 'spf', severity: 'error', message: 'x' }] })], // prettier-ignore
  ['a sentence of a good line and a warning', pageOf([{ name: 'mx', state: 'good', details: ['x'] }], { warnings: [{ about: 'spf', severity: 'warning', message: 'x' }] })], // prettier-ignore
  ['lines about one record', pageOf([{ name: 'spf', state: 'bad' }, { name: 'senders', state: 'good' }])], // prettier-ignore
  ['enforcement', saying('Enforced: receivers reject spoofed mail.', 'Not enforced: p=none only monitors.')], // prettier-ignore
  ['keys', saying('2 DKIM keys found: a and b.', 'No DKIM key found at 161 selectors. There may be one.')], // prettier-ignore
  ['certificates', saying('No certificate authority may issue certificates.', 'Any certificate authority may issue certificates for a.test.')], // prettier-ignore
  ['use', saying('The domain does not use mail.', 'The domain uses mail.')],
  ['logo', saying('The logo (BIMI) can be shown.', 'The logo (BIMI) cannot be shown: it is too large.')], // prettier-ignore
]

describe('the rule about contradictions', () => {
  it.each(PAGES)('finds one about %s', (_what, page) => {
    expect(contradictions(page)).toHaveLength(1)
  })

  it('finds what a fix replaces and a line calls good, and a good whole with a bad part', () => {
    const lines = [{ name: 'spf' as const, state: 'good' as const, evidence: [{ ...RECORD, state: 'good' as const }] }] // prettier-ignore
    const page = pageOf(lines)
    const fix = { line: 'mx', name: 'a.test', type: 'TXT', published: ['v=spf1'], severity: 'bad' }
    page.report.fixes = [fix as unknown as DomainFix]
    expect(contradictions(page)).toHaveLength(1)
    const whole = pageOf([{ name: 'spf', state: 'warning' }])
    whole.report.verdict = { ...whole.report.verdict, state: 'good' }
    expect(contradictions(whole)).toHaveLength(1)
  })

  it.each([
    ['The domain has no website.', 'The domain has several MTA-STS records.'],
    ['No IMAP server answers on port 993.', 'An IMAP server answers late.'],
    ['one.test: The server does not offer STARTTLS.', 'two.test: The server offers STARTTLS.'],
  ])('does not find one in “%s” and “%s”', (...sentences) => {
    expect(contradictions(saying(...sentences))).toEqual([])
  })
})
