import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkDomain } from '../../src/domains/check-domain.ts'
import type { DomainDeps } from '../../src/domains/domain-context.ts'
import type { DomainFix, DomainReport } from '../../src/domains/shapes.ts'
import { createLog } from '../../src/log.ts'
import { parseDkimKey } from '../../src/protocols/dkim/dkim-key.ts'
import { DMARC_POLICIES, parseDmarc } from '../../src/protocols/dmarc/dmarc-record.ts'
import { parseStsRecord } from '../../src/protocols/mail/mta-sts.ts'
import { parseTlsRpt } from '../../src/protocols/mail/tls-rpt.ts'
import { isSpf, parseSpf } from '../../src/protocols/spf/spf-record.ts'
import { propertyRuns } from '../property-runs.ts'
import { mapResolver } from '../resolver.ts'
import { registeredUntil } from './check-with.ts'
import { zones, type RandomZone } from './zone-arbitrary.ts'

/** Checks a zone with servers that nobody reaches and without blocklists. */
function check({ domain, records, failures }: RandomZone): Promise<DomainReport> {
  const deps: DomainDeps = {
    resolver: mapResolver(records, failures),
    blocklists: { lists: [] } as unknown as DomainDeps['blocklists'],
    domainLists: { check: async () => [] },
    registrations: registeredUntil(new Date(Date.now() + 300 * 86_400_000)),
    allowPrivate: true,
    log: createLog('silent'),
    ports: { smtp: 1, submission: 1, imaps: 1, https: 1 },
  }
  return checkDomain(domain, deps, new AbortController().signal)
}

/** What one sentence may say only if no other sentence of the page says the second. */
const CONTRADICTIONS: [RegExp, RegExp][] = [
  [/^Enforced: receivers/, /spoofed mail is (?:still )?delivered|anyone can spoof/i],
  [/^Enforced: receivers/, /receivers ignore the record|not recognized as DMARC|no DMARC record/],
  [/DKIM keys? found:/, /No (?:working )?DKIM key|has no DKIM signature/],
  [/returns the same key \(a wildcard\)/, /No (?:working )?DKIM key/],
  [/SPF record is valid/, /SPF fails|makes the record fail|permits every server|no SPF record/],
  [/SPF permits no server/, /SPF permits \d/],
  [
    /^The domain (?:does not use mail|receives no mail)/,
    /^Mail goes to|mail goes to the host itself\. Publish one/,
  ],
  [/does not use mail\./, /DKIM keys? found:/],
  [
    /^The domain does not use mail\./,
    /Find “s=”|has no DKIM signature|Turn on DKIM|an address that you read/,
  ],
  [/domain sends no mail/, /Find “s=”|has no DKIM signature|an address that you read/],
  [/logo \(BIMI\) can be shown/, /Not enforced|spoofed mail is delivered|no DMARC record/],
  [/publishes no logo/, /The logo|BIMI record exists/],
  [/No certificate authority may/, /Any certificate authority|Only .* may issue/],
  [
    /MTA-STS policy is in mode/,
    /could not be fetched|Senders (?:cannot use|ignore the MTA-STS)|several MTA-STS/,
  ],
  [/does not use MTA-STS/, /MTA-STS (?:policy|record) (?:is|could|does)/],
  [
    /Senders report TLS failures/,
    /gets no TLS reports|Senders (?:may )?ignore the TLS|not recognized as TLS/,
  ],
  [/is in good order/, /Not enforced|has problems/],
]

/** The sentences of a page, without what the checks of others say about the zone. */
function sentencesOf({ verdict, lines }: DomainReport): string[] {
  return [verdict.sentence, ...lines.flatMap(({ summary, details }) => [summary, ...details])]
}

/** Names, texts and numbers that a repeated sentence differs in. */
const withoutNames = (sentence: string) =>
  sentence.replaceAll(/“[^”]*”|[\w*-]+(?:\.[\w-]+)+|\d+|(?<=[Ss]elector )\S+/g, '…')

function problemsOf(report: DomainReport): string[] {
  const sentences = sentencesOf(report)
  const pairs = CONTRADICTIONS.flatMap(([good, bad]) => {
    const [one, other] = [
      sentences.find((text) => good.test(text)),
      sentences.find((text) => bad.test(text)),
    ]
    return one !== undefined && other !== undefined ? [`“${one}” and “${other}”`] : []
  })
  const counts = Map.groupBy(sentences, withoutNames)
  const repeated = [...counts].flatMap(([text, all]) =>
    all.length > 3 ? [`${all.length} × ${text}`] : [],
  )
  const twice = [...Map.groupBy(sentences, (text) => text)].flatMap(([text, all]) =>
    all.length > 3 ? [`${all.length} × ${text}`] : [],
  )
  const silent = report.lines.filter(
    ({ name, state }) =>
      state === 'good' &&
      report.fixes.some((fix) => fix.line === name && fix.severity !== 'suggestion'),
  )
  return [
    ...pairs,
    ...repeated,
    ...twice,
    ...silent.map(({ title }) => `${title} is good, and has a fix`),
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
function publish({ domain, records, failures }: RandomZone, fixes: DomainFix[]): RandomZone {
  const next = { ...records }
  for (const { name, type, published, value } of fixes) {
    const before = (next[`${name} ${type}`] ?? []).map((text) =>
      typeof text === 'string' ? text : text.join(''),
    )
    next[`${name} ${type}`] = [...before.filter((text) => !published.includes(text)), value]
  }
  return { domain, records: next, failures }
}

describe('the page of a domain', () => {
  it('does not contradict itself, and its fixes work', { timeout: 600_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(zones, async (zone) => {
        const report = await check(zone)
        expect(problemsOf(report)).toEqual([])
        const mended = report.fixes.filter(({ severity }) => severity === 'bad')
        if (mended.length === 0) return
        // What is published is not proposed again, and not called broken.
        const after = await check(publish(zone, report.fixes))
        expect(problemsOf(after)).toEqual([])
        const names = mended.map(({ name }) => name)
        const again = after.fixes.filter(({ severity }) => severity === 'bad')
        expect(again.filter(({ name }) => names.includes(name))).toEqual([])
      }),
      propertyRuns(300, 5_000),
    )
  })
})
