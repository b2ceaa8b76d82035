import { caaLine } from '../../src/domains/lines/caa-line.ts'
import { dkimLine } from '../../src/domains/lines/dkim-line.ts'
import { dmarcLine } from '../../src/domains/lines/dmarc-line.ts'
import { mxLine } from '../../src/domains/lines/mx-line.ts'
import { reverseDnsLine } from '../../src/domains/lines/reverse-dns-line.ts'
import { createDomainContext, type DomainDeps } from '../../src/domains/domain-context.ts'
import type { Line } from '../../src/domains/lines/line.ts'
import { considerAliases } from '../../src/domains/fixes/consider-aliases.ts'
import { dkimProposals } from '../../src/domains/fixes/dkim-fix.ts'
import type { Proposal } from '../../src/domains/fixes/proposal.ts'
import { isPublished } from '../../src/domains/record-state.ts'
import { createLog } from '../../src/log.ts'
import type { DnsFailure } from '../../src/net/dns.ts'
import { probeSelectors } from '../../src/protocols/dkim/probe-selectors.ts'
import { createDnsQueries } from '../../src/protocols/dns-queries.ts'
import { checkMailAuth } from '../../src/diagnostics/mail-auth/mail-auth.ts'
import { mapResolver } from '../resolver.ts'
import { registeredUntil } from '../domains/check-with.ts'
import type { RecordText, Records } from '../servers/dns-records.ts'
import { runCases } from './run-cases.ts'

const DOMAIN = 'example.com'
const MAIL: Records = {
  'example.com A': ['192.0.2.1'],
  'example.com MX': ['10 mail.example.com'],
  'mail.example.com A': ['192.0.2.2'],
}
const stop = () => new AbortController().signal

/** `GET /api/v1/dmarc-check`, with the policy file of MTA-STS as it is given. */
function checkMail(
  records: Records,
  {
    domain = DOMAIN,
    policy = '',
    failures,
  }: Pick<LineWish, 'domain' | 'failures'> & { policy?: string } = {},
) {
  const fetchFile = async () => ({
    status: 200,
    contentType: 'text/plain',
    body: Buffer.from(policy),
  })
  return checkMailAuth({ domain }, { resolver: mapResolver(records, failures), fetchFile }, stop())
}

type Checked = Awaited<ReturnType<typeof checkMail>>

function adviceAbout(about: Checked['warnings'][number]['about'], { warnings }: Checked) {
  const advice = warnings.filter((warning) => warning.about === about)
  const publish = advice.find((one) => one.publish)?.publish
  return {
    severity: advice[0]?.severity ?? null,
    proposal: publish?.value ?? null,
    messages: advice.map(({ message }) => message).join(' '),
  }
}

/** The different values that the advice proposes for a name. */
function proposalsAt(name: string, { warnings }: Checked): string[] {
  const values = warnings.flatMap(({ publish }) => (publish?.name === name ? [publish.value] : []))
  return [...new Set(values)]
}

/** A row may expect a part of the text as `says`. */
const said = (text: string, says: string | undefined) =>
  says === undefined || text.includes(says) ? { says } : { says: text }

runCases('dmarc.json', async (texts: RecordText[], { says }: Says) => {
  const checked = await checkMail({ ...MAIL, '_dmarc.example.com TXT': texts })
  const { messages, proposal } = adviceAbout('dmarc', checked)
  const { found, effectivePolicy } = checked.dmarc
  return { found, effectivePolicy, proposal, ...said(messages, says) }
})

type Says = { says?: string }

runCases(
  'dmarc-inheritance.json',
  async ({ domain, records }: { domain: string; records: Records }) => {
    const checked = await checkMail(records, { domain })
    const { messages, proposal } = adviceAbout('dmarc', checked)
    return {
      effectivePolicy: checked.dmarc.effectivePolicy,
      saysNotEnforced: messages.includes('Not enforced'),
      proposal,
      proposals: proposalsAt(`_dmarc.${domain}`, checked),
    }
  },
)

type DestinationCase = LineCase & { rua: string }

runCases('report-destinations.json', async ({ rua, records, failures }: DestinationCase) => {
  const record = `v=DMARC1; p=reject; rua=${rua}`
  const zone = { ...MAIL, '_dmarc.example.com TXT': [record], ...records }
  const { dmarc } = await checkMail(zone, { ...(failures && { failures }) })
  return { authorized: dmarc.destinations.map(({ authorized }) => authorized) }
})

runCases('dkim.json', async ({ records }: { records: Records }) => {
  const queries = createDnsQueries(mapResolver(records), stop())
  const probe = await probeSelectors(DOMAIN, { asked: [], providers: [] }, queries)
  const found = probe.findings.filter(({ key, fromWildcard }) => key && !fromWildcard)
  const working = found.filter(({ key }) => key?.errors.length === 0)
  return {
    found: found.map(({ selector }) => selector),
    working: working.map(({ selector }) => selector),
    aliases: probe.findings.filter(({ alias }) => alias !== null).length,
    nothingBelow: probe.nothingBelow,
    strays: probe.findings.flatMap(({ strays }) => strays).length,
    proposal: dkimProposals(DOMAIN, probe)[0]?.value ?? null,
    state: (await checkLine(dkimLine, { ...MAIL, ...records }).result).state,
  }
})

runCases(
  'mta-sts.json',
  async (
    { policy, record, records }: { policy: string; record: string | string[]; records: Records },
    { says }: Says,
  ) => {
    const checked = await checkMail(
      { ...records, '_mta-sts.example.com TXT': [record].flat() },
      { policy },
    )
    const { severity, messages, proposal } = adviceAbout('mta-sts', checked)
    const { found, policy: applied } = checked.mtaSts
    return {
      severity,
      proposes: proposal !== null,
      found,
      mode: applied?.mode ?? null,
      ...said(messages, says),
    }
  },
)

runCases('tls-rpt.json', async (texts: RecordText[]) =>
  adviceAbout('tls-rpt', await checkMail({ ...MAIL, '_smtp._tls.example.com TXT': texts })),
)

runCases('bimi.json', async ({ domain, records }: { domain: string; records: Records }) => {
  const checked = await checkMail(records, { domain })
  const { bimi } = checked
  const { proposal } = adviceAbout('bimi', checked)
  return { found: bimi.found, missing: bimi.missing.length, proposal }
})

type Aliased = { domain: string; name: string; records: Records }

/** A record proposed at an alias, by the check and on the domain page. */
runCases('aliased-records.json', async ({ domain, name, records }: Aliased, { says }: Says) => {
  const zone = { ...MAIL, ...records }
  const checked = await checkMail(zone, { domain })
  const { context } = checkLine(mxLine, zone, { domain })
  const proposalWith = (caution: string | null): Proposal => ({
    name,
    type: 'TXT',
    line: 'spf',
    severity: 'bad',
    published: [],
    value: 'new',
    changes: [],
    caution,
  })
  const proposals = [proposalWith(null), proposalWith('Read this.')]
  const page = await considerAliases({ details: [], proposals }, context.queries)
  const texts = [...page.details, ...page.proposals.map(({ caution }) => caution ?? '')]
  const isOnPage = page.proposals.length > 0
  const isInCheck = proposalsAt(name, checked).length > 0
  const messages = checked.warnings.map(({ message }) => message).join(' ')
  return {
    isProposed: isOnPage === isInCheck ? isOnPage : { isOnPage, isInCheck },
    ...said(texts.every((text) => text.includes(says ?? '')) ? messages : texts.join(' '), says),
  }
})

type LineWish = {
  domain?: string
  failures?: Record<string, DnsFailure>
  isPublic?: boolean
  /** Where reports of this installation arrive, and the policy that they show to be safe. */
  reportEmail?: string
  safePolicy?: 'quarantine' | 'reject'
}

/** One line of the domain page. */
function checkLine(line: Line, records: Records, wish: LineWish = {}) {
  const { domain = DOMAIN, failures, isPublic = false, reportEmail = null, safePolicy } = wish
  const deps: DomainDeps = {
    resolver: mapResolver(records, failures),
    blocklists: { lists: [] } as unknown as DomainDeps['blocklists'],
    domainLists: { check: async () => [] },
    registrations: registeredUntil(null),
    allowPrivate: !isPublic,
    log: createLog('silent'),
    reportEmailOf: async () => reportEmail,
    safePolicyOf: async () => safePolicy ?? null,
  }
  const context = createDomainContext({ kind: 'name', name: domain, unicode: domain }, deps, stop())
  return { context, result: line.check(context) }
}

type FixCase = LineWish & { records: Records }
type WantedParts = { has?: string[]; lacks?: string[] }

/** The DMARC records that the domain page proposes, and the consents of others. */
runCases('dmarc-fixes.json', async ({ records, ...wish }: FixCase, wanted: WantedParts) => {
  const { proposals = [] } = await checkLine(dmarcLine, { ...MAIL, ...records }, wish).result
  const own = `_dmarc.${wish.domain ?? DOMAIN}`
  const proposal = proposals.find(({ name }) => name === own)?.value ?? null
  const has = (part: string) => proposal?.includes(part) ?? false
  const others = proposals.filter(({ name }) => name !== own)
  const consents = others.map(({ name, value }) => `${name} ${value}`)
  return {
    proposal,
    has: wanted.has?.filter(has),
    lacks: wanted.lacks?.filter((part) => !has(part)),
    consents: [...new Set(consents)],
  }
})

runCases('caa.json', async (records: string[], { says }: Says) => {
  const { state, summary } = await checkLine(caaLine, { 'example.com CAA': records }).result
  return { state, ...said(summary, says) }
})

type CertificateCase = {
  records: string[]
  certificate: { organisation: string; names: string[] }
}

runCases(
  'caa-certificates.json',
  async ({ records, certificate }: CertificateCase, { says }: Says) => {
    const { organisation, names } = certificate
    const leaf = { issuer: { O: organisation }, subjectAltNames: names }
    const facts = { hostnameMatches: true, chain: [leaf] }
    const { context } = checkLine(caaLine, { ...MAIL, 'example.com CAA': records })
    const probe = async () => ({ facts }) as never
    const { state, summary } = await caaLine.check({ ...context, probe })
    return { state, ...said(summary, says) }
  },
)

type LineCase = { records: Records; failures?: Record<string, DnsFailure> }

runCases('mx.json', async ({ records, failures }: LineCase, { says }: Says) => {
  const { result } = checkLine(mxLine, records, { isPublic: true, ...(failures && { failures }) })
  const { state, isUsed = true, summary, details = [] } = await result
  return { state, isUsed, ...said([summary, ...details].join(' '), says) }
})

runCases('reverse-dns.json', async ({ records, failures }: LineCase) => {
  const wish = { isPublic: true, ...(failures && { failures }) }
  const { context, result } = checkLine(reverseDnsLine, records, wish)
  const { state, ...line } = await result
  const { proposals } = await considerAliases(line, context.queries)
  const caution = proposals[0]?.caution?.replace(
    'Reverse DNS is set at the provider of the address. ',
    '',
  )
  const proposed = proposals.map(({ name, value }) => `${name} ${value}`)
  return { state, caution: caution ?? null, proposed }
})

runCases('no-mail.json', async (records: Records) => {
  const mx = checkLine(mxLine, records)
  const [{ state, summary, details = [] }, dkim, usesMail] = await Promise.all([
    mx.result,
    checkLine(dkimLine, records).result,
    mx.context.usesMail(),
  ])
  const saysNullMx = [summary, ...details].join(' ').includes('null MX')
  return { usesMail, mx: state, dkim: dkim.state, saysNullMx }
})

type Published = { type: Parameters<typeof isPublished>[1]; published: string[]; wanted: string }

/** Whether a record that was to be published is there. */
runCases('published-records.json', ({ type, published, wanted }: Published) => ({
  isPublished: isPublished(published, type, wanted),
}))
