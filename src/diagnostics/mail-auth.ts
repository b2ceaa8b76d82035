import { Fault } from '../errors.ts'
import { parseHost, type Name } from '../net/address.ts'
import type { Resolver } from '../net/dns.ts'
import { getSmall, type SmallAnswer } from '../net/http.ts'
import { gravestFirst, type Advice } from '../protocols/advice.ts'
import { adviceOnBimi, parseBimi } from '../protocols/bimi.ts'
import { adviceOnDkim } from '../protocols/dkim-advice.ts'
import { probeSelectors } from '../protocols/dkim-probe.ts'
import { providersOf } from '../protocols/dkim-selectors.ts'
import { adviceOnDmarc } from '../protocols/dmarc-advice.ts'
import { checkDestinations } from '../protocols/dmarc-destinations.ts'
import { discoverDmarc } from '../protocols/dmarc-discovery.ts'
import { lookUpMailUse } from '../protocols/mail-use.ts'
import { adviceOnMtaSts, parseStsPolicy, parseStsRecord, policyUrl, type FetchedPolicy } from '../protocols/mta-sts.ts'
import { registeredDomain } from '../protocols/public-suffix.ts'
import { createQuestions, failureOf, type Questions } from '../protocols/questions.ts'
import { adviceOnSpf } from '../protocols/spf-advice.ts'
import { walkSpf } from '../protocols/spf-lookups.ts'
import { isSpf, parseSpf, permitsNobody } from '../protocols/spf.ts'
import { adviceOnTlsRpt } from '../protocols/tls-rpt.ts'
import { defineCheck } from './check.ts'
import { bimiItem, dkimItems, dmarcItem, mtaStsItem, spfItem, tlsRptItem } from './mail-auth-items.ts'
import { MailAuthQuery, MailAuthResult } from './shapes.ts'

const EXAMPLE_TAGS = { v: 'DMARC1', p: 'quarantine', rua: 'mailto:dmarc-reports@example.com' }

export const mailAuthCheck = defineCheck({
  name: 'dmarc',
  path: '/api/v1/dmarc-check',
  summary: 'DMARC, SPF and DKIM of a domain',
  description:
    'Finds the DMARC record that applies (RFC 9989), counts the look-ups of the SPF record, tries DKIM selectors, and looks at MTA-STS, TLS reporting and BIMI. An item with `error` could not be asked, so its “not found” says nothing. `warnings` say what is wrong and which record to publish instead.',
  query: MailAuthQuery,
  data: MailAuthResult,
  example: {
    query: { domain: 'example.com' },
    data: {
      domain: 'example.com',
      unicodeDomain: 'example.com',
      status: 'NOERROR',
      dmarc: {
        found: true,
        record: 'v=DMARC1; p=quarantine; rua=mailto:dmarc-reports@example.com',
        tags: EXAMPLE_TAGS,
        tagsExplained: [{ tag: 'v', value: 'DMARC1', meaning: 'This is a DMARC record.' }],
        inheritedFrom: null,
        effectivePolicy: 'quarantine',
        organizationalDomain: 'example.com',
        destinations: [{ tag: 'rua', uri: 'mailto:dmarc-reports@example.com', name: null, authorized: true }],
      },
      spf: {
        found: true,
        record: 'v=spf1 mx -all',
        lookups: 1,
        voidLookups: 0,
        all: '-all',
        errors: [],
        includes: [],
      },
      dkim: [{ selector: 'google', found: false, record: null }],
      dkimSelectorsTried: 161,
      mtaSts: { found: false, record: null, id: null, policy: null },
      tlsRpt: { found: false, record: null, rua: [] },
      bimi: { found: false, record: null, logo: null, certificate: null, missing: ['a BIMI record that names a logo'] },
      truncated: [],
      durationMs: 640,
      warnings: [
        {
          about: 'tls-rpt',
          severity: 'info',
          message: 'TLS reports are not asked for: they tell when senders fail to encrypt mail to this domain.',
          publish: {
            name: '_smtp._tls.example.com',
            type: 'TXT',
            value: 'v=TLSRPTv1; rua=mailto:tls-reports@example.com',
          },
        },
      ],
    },
  },
  run: (query, deps, signal) => {
    const fetchFile = (url: URL) => getSmall(url, deps, AbortSignal.any([signal, AbortSignal.timeout(FETCH_PATIENCE)]))
    return checkMailAuth(query, { resolver: deps.resolver, fetchFile }, signal)
  },
})

/** Milliseconds for the MTA-STS policy: a slow web server should not make the rest wait. */
const FETCH_PATIENCE = 5_000

type Deps = {
  resolver: Resolver
  /** @throws Fault when the file could not be had */
  fetchFile: (url: URL) => Promise<SmallAnswer>
}

/**
 * Looks at all that tells receivers which mail of a domain is genuine. Everything is asked side by side; when the signal
 * aborts, the answer says what could not be asked by then.
 * @throws Fault `invalid_request`; `upstream_timeout` or `upstream_unreachable` when no question was answered at all
 */
export async function checkMailAuth(
  query: { domain: string; selector?: string[] },
  { resolver, fetchFile }: Deps,
  signal: AbortSignal,
): Promise<MailAuthResult> {
  const started = performance.now()
  const { name: domain, unicode } = mailDomain(query.domain)
  const asked = (query.selector ?? []).map(selectorName)
  const questions = createQuestions(resolver, signal)
  const facts = await gather(domain, asked, questions, fetchFile)
  requireAnswer(domain, questions)
  const { dmarc, destinations, spf, dkim, mtaSts, tlsRpt, bimi } = facts
  const tried = dkim.probe.findings.filter((finding) => finding.tried).length
  return {
    domain,
    unicodeDomain: unicode,
    status: facts.own.exists ? 'NOERROR' : 'NXDOMAIN',
    dmarc: dmarcItem(dmarc, destinations),
    spf: spfItem(spf),
    dkim: dkimItems(dkim.probe, asked),
    dkimSelectorsTried: tried,
    mtaSts: mtaStsItem(mtaSts.found, mtaSts.fetched),
    tlsRpt: tlsRptItem(tlsRpt),
    bimi: bimiItem(bimi.record, bimi.error, dmarc),
    truncated: [
      ...(spf.truncated ? ['Part of what the SPF record includes.'] : []),
      ...(tried < dkim.probe.findings.length
        ? [`${dkim.probe.findings.length - tried} of ${dkim.probe.findings.length} DKIM selectors.`]
        : []),
    ],
    durationMs: Math.round(performance.now() - started),
    warnings: gravestFirst(adviceOn(domain, asked, facts)),
  }
}

type Facts = Awaited<ReturnType<typeof gather>>

async function gather(domain: string, asked: string[], questions: Questions, fetchFile: Deps['fetchFile']) {
  const [own, mailUse, obsolete, dmarc, spf, dkim, mtaSts, tlsRpt, bimi] = await Promise.all([
    questions.texts(domain),
    lookUpMailUse(domain, questions),
    questions.ask(domain, 'SPF'),
    gatherDmarc(domain, questions),
    walkSpf(domain, questions),
    gatherDkim(domain, asked, questions),
    gatherMtaSts(domain, questions, fetchFile),
    questions.texts(`_smtp._tls.${domain}`),
    gatherBimi(domain, questions),
  ])
  const hasObsoleteType = obsolete.status !== 'FAILED' && obsolete.records.length > 0
  return { own, mailUse, hasObsoleteType, ...dmarc, spf, dkim, mtaSts, tlsRpt, bimi }
}

async function gatherDmarc(domain: string, questions: Questions) {
  const dmarc = await discoverDmarc(domain, questions)
  const { record, policyDomain } = dmarc
  const destinations = record && policyDomain ? await checkDestinations(policyDomain, record, questions) : []
  return { dmarc, destinations }
}

/** Who handles the domain's mail tells which selectors to try first. */
async function gatherDkim(domain: string, asked: string[], questions: Questions) {
  const [{ exchanges }, { texts }] = await Promise.all([lookUpMailUse(domain, questions), questions.texts(domain)])
  const terms = texts.filter(isSpf).flatMap((text) => parseSpf(text).terms)
  const includes = terms.flatMap(({ name, value }) => (name === 'include' && value ? [value.toLowerCase()] : []))
  const providers = providersOf(exchanges, includes)
  return { providers, probe: await probeSelectors(domain, { asked, providers }, questions) }
}

async function gatherMtaSts(domain: string, questions: Questions, fetchFile: Deps['fetchFile']) {
  const found = await questions.texts(`_mta-sts.${domain}`)
  const isPublished = found.texts.some((text) => parseStsRecord(text))
  return { found, fetched: isPublished ? await fetchPolicy(policyUrl(domain), fetchFile) : null }
}

async function fetchPolicy(url: URL, fetchFile: Deps['fetchFile']): Promise<FetchedPolicy> {
  try {
    const { status, contentType, body } = await fetchFile(url)
    // RFC 8461, 3.3: anything but 200, redirects among it, is a failure.
    if (status !== 200) return { failure: `${url.href} answered with status ${status}.` }
    return { policy: parseStsPolicy(body.toString()), contentType }
  } catch (error) {
    if (error instanceof Fault) return { failure: error.message }
    throw error
  }
}

/** A domain without a record of its own shows its organisation's logo. */
async function gatherBimi(domain: string, questions: Questions) {
  const names = [...new Set([domain, registeredDomain(domain) ?? domain])]
  const found = await Promise.all(names.map((name) => questions.texts(`default._bimi.${name}`)))
  const record = found.flatMap(({ texts }) => texts.map(parseBimi)).find((parsed) => parsed !== null) ?? null
  return { record, error: record ? null : (found.find(({ error }) => error)?.error ?? null) }
}

function adviceOn(domain: string, asked: string[], facts: Facts): Advice[] {
  const { own, mailUse, hasObsoleteType, dmarc, destinations, spf, dkim, mtaSts, tlsRpt, bimi } = facts
  const usesMail = own.exists && takesPartInMail(facts)
  const onDmarc = adviceOnDmarc({
    discovery: dmarc,
    destinations,
    usesMail,
    registeredDomain: registeredDomain(domain) ?? domain,
  })
  // Nothing else can be said of a name that does not exist.
  if (!own.exists) return onDmarc
  const { providers, probe } = dkim
  const include = providers.find((provider) => provider.include)?.include ?? null
  const { exchanges } = mailUse
  return [
    ...onDmarc,
    ...adviceOnSpf({ domain, tree: spf, texts: own.texts, mailUse, include, hasObsoleteType }),
    ...adviceOnDkim({ domain, probe, asked, providers, usesMail }),
    ...adviceOnMtaSts({ domain, found: mtaSts.found, fetched: mtaSts.fetched, exchanges, now: new Date() }),
    ...adviceOnTlsRpt(domain, tlsRpt, exchanges.length > 0),
    ...adviceOnBimi(domain, bimi.record, dmarc),
  ]
}

/** False only when all speaks against it: mail cannot come, SPF lets nobody send, and there is no key to sign with. */
function takesPartInMail({ mailUse, spf, dkim }: Facts): boolean {
  const { record, error } = spf.root
  const maySend = error !== null || (record !== null && !permitsNobody(record))
  const signs = dkim.probe.findings.some(({ key }) => key && !key.revoked)
  return mailUse.receives !== 'nothing' || maySend || signs
}

function requireAnswer(domain: string, questions: Questions): void {
  const failures = questions.answers().map(failureOf)
  if (failures.includes(null)) return
  const kinds = [...new Set(failures)]
  if (kinds.every((kind) => kind === 'TIMEOUT')) {
    throw new Fault('upstream_timeout', `No name server answered for ${domain} in time.`)
  }
  throw new Fault('upstream_unreachable', `No name server answered for ${domain}: ${kinds.join(', ')}.`)
}

function mailDomain(text: string): Name {
  const behind = text.slice(text.lastIndexOf('@') + 1)
  if (text.includes('@'))
    throw wrong('domain', `“${text.slice(0, 80)}” is a mail address; give what stands behind the @: ${behind}`)
  const host = parseHost(text, 'domain')
  if (host.kind === 'ip') throw wrong('domain', `${host.address} is an IP address; give the domain of mail addresses`)
  if (!host.name.includes('.'))
    throw wrong('domain', `“${host.name}” is a single label, not a domain that mail comes from`)
  return host
}

/** RFC 6376, 3.1: a selector is one or more labels. People also paste the whole name. */
function selectorName(text: string): string {
  const selector = text.trim().replace(/\._domainkey(?:\..*)?$/is, '')
  const isName = selector.length <= 150 && /^[\w-]{1,63}(?:\.[\w-]{1,63})*$/.test(selector)
  if (!isName) throw wrong('selector', `“${text.slice(0, 80)}” is no DKIM selector`)
  return selector
}

function wrong(path: string, message: string): Fault {
  return new Fault('invalid_request', `${message}.`, { details: [{ path, message }] })
}
