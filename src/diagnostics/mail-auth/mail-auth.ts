import { Fault } from '../../errors.ts'
import { parseAddress, parseHost, type DomainName } from '../../net/address.ts'
import { getSmall } from '../../net/http/get-small.ts'
import { shorten } from '../../protocols/advice.ts'
import { adviseOnAliases } from '../../protocols/aliased-records.ts'
import { createDnsQueries, dnsFailureOf, type DnsQueries } from '../../protocols/dns-queries.ts'
import { evaluateSpf } from '../../protocols/spf/evaluate-spf.ts'
import { defineCheck } from '../check.ts'
import type { CheckDeps } from '../check-services.ts'
import { mailAdvice } from './mail-auth-advice.ts'
import { gatherFacts, type FetchFile, type MailFacts } from './mail-auth-facts.ts'
import {
  bimiItem,
  dkimItems,
  dmarcItem,
  mtaStsItem,
  senderItem,
  spfItem,
  tlsRptItem,
} from './mail-auth-items.ts'
import { MailAuthQuery, MailAuthResult } from '../shapes.ts'

const EXAMPLE_TAGS = { v: 'DMARC1', p: 'quarantine', rua: 'mailto:dmarc-reports@example.com' }

export const mailAuthCheck = defineCheck({
  name: 'dmarc',
  path: '/api/v1/dmarc-check',
  summary: 'Check DMARC, SPF and DKIM of a domain',
  description:
    'Finds the DMARC record that applies (RFC 9989), counts the DNS lookups of the SPF record and evaluates it for each `ip`, tries DKIM selectors, and checks MTA-STS, TLS reporting and BIMI. If an item has `error`, its query failed and `found: false` is not a result. Each of the `warnings` describes a problem and may give the record to publish.',
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
        destinations: [
          { tag: 'rua', uri: 'mailto:dmarc-reports@example.com', name: null, authorized: true },
        ],
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
      bimi: {
        found: false,
        record: null,
        logo: null,
        certificate: null,
        missing: ['a BIMI record that names a logo'],
      },
      truncated: [],
      durationMs: 640,
      warnings: [
        {
          about: 'tls-rpt',
          severity: 'info',
          message:
            'No TLS reporting record. TLS reports show when senders cannot encrypt mail to this domain.',
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
    const fetchFile = (url: URL) =>
      getSmall(url, deps, AbortSignal.any([signal, AbortSignal.timeout(POLICY_FETCH_TIMEOUT_MS)]))
    return checkMailAuth(query, { ...deps, fetchFile }, signal)
  },
})

/** Milliseconds for the MTA-STS policy: a slow web server should not make the rest wait. */
const POLICY_FETCH_TIMEOUT_MS = 5_000

type Deps = Pick<CheckDeps, 'resolver' | 'selectorsSeen'> & { fetchFile: FetchFile }

/**
 * Checks everything that lets receivers recognize genuine mail of a domain. All queries run
 * concurrently. When the signal aborts, the result names the queries that had no answer by then.
 * @throws Fault `invalid_request`; `upstream_timeout` or `upstream_unreachable` when no query was
 *   answered
 */
export async function checkMailAuth(
  query: { domain: string; selector?: string[]; ip?: string[] },
  { resolver, selectorsSeen, fetchFile }: Deps,
  signal: AbortSignal,
): Promise<MailAuthResult> {
  const started = performance.now()
  const { name: domain, unicode } = mailDomain(query.domain)
  const asked = (query.selector ?? []).map(selectorName)
  const clients = (query.ip ?? []).map(clientAddress)
  const queries = createDnsQueries(resolver, signal)
  // Without the reports there is still the list of common ones.
  const seen = ((await selectorsSeen?.(domain).catch(() => [])) ?? []).filter(isSelector)
  const [facts, senders] = await Promise.all([
    gatherFacts(domain, [...new Set([...asked, ...seen])], queries, fetchFile),
    Promise.all(
      clients.map(async (ip) => senderItem(ip, await evaluateSpf(clientOf(ip, domain), queries))),
    ),
  ])
  requireAnswer(domain, queries)
  const { dmarc, destinations, spf, dkim, mtaSts, tlsRpt, bimi } = facts
  return {
    domain,
    unicodeDomain: unicode,
    status: statusOf(facts.own),
    dmarc: dmarcItem(dmarc, destinations),
    spf: { ...spfItem(spf), ...(query.ip === undefined ? {} : { senders }) },
    dkim: dkimItems(dkim.probe, asked),
    dkimSelectorsTried: dkim.probe.findings.filter(({ tried }) => tried).length,
    mtaSts: mtaStsItem(mtaSts.found, mtaSts.fetched),
    tlsRpt: tlsRptItem(tlsRpt),
    bimi: bimiItem(bimi, dmarc),
    truncated: omittedParts(facts),
    durationMs: Math.round(performance.now() - started),
    warnings: await adviseOnAliases(mailAdvice(domain, asked, facts), queries),
  }
}

function statusOf({ exists, error }: MailFacts['own']): MailAuthResult['status'] {
  if (error) return null
  return exists ? 'NOERROR' : 'NXDOMAIN'
}

/** Describes the queries that were not finished in time. */
function omittedParts({ spf, dkim }: MailFacts): string[] {
  const { findings } = dkim.probe
  const untried = findings.filter((finding) => !finding.tried).length
  return [
    ...(spf.truncated ? ['Some includes of the SPF record.'] : []),
    ...(untried > 0 ? [`${untried} of ${findings.length} DKIM selectors.`] : []),
  ]
}

function requireAnswer(domain: string, queries: DnsQueries): void {
  const failures = queries.answersBelow(domain).map(dnsFailureOf)
  if (failures.includes(null)) return
  const kinds = [...new Set(failures)]
  if (kinds.every((kind) => kind === 'TIMEOUT')) {
    throw new Fault(
      'upstream_timeout',
      `No name server answered for ${domain} in time. Try again later.`,
    )
  }
  throw new Fault(
    'upstream_unreachable',
    `No name server answered for ${domain}: ${kinds.join(', ')}.`,
  )
}

function mailDomain(text: string): DomainName {
  const behind = text.slice(text.lastIndexOf('@') + 1)
  if (behind !== text)
    throw invalidParameter(
      'domain',
      `“${shorten(text)}” is an email address; enter only its domain: ${shorten(behind)}`,
    )
  const host = parseHost(text, 'domain')
  if (host.kind === 'ip')
    throw invalidParameter(
      'domain',
      `${host.address} is an IP address; enter the domain of email addresses`,
    )
  return host
}

function clientAddress(text: string): string {
  const address = parseAddress(text.trim())
  if (!address) throw invalidParameter('ip', `“${shorten(text)}” is not an IP address`)
  return address.address
}

/** Mail that a domain's own postmaster sends from a server which greets with the domain. */
function clientOf(ip: string, domain: string): { ip: string; sender: string; helo: string } {
  return { ip, sender: `postmaster@${domain}`, helo: domain }
}

/** RFC 6376, 3.1: a selector is one or more labels. People also paste the whole name. */
function selectorName(text: string): string {
  const selector = text.trim().replace(/\._domainkey(?:\..*)?$/is, '')
  if (!isSelector(selector))
    throw invalidParameter('selector', `“${shorten(text)}” is not a DKIM selector`)
  return selector
}

function isSelector(text: string): boolean {
  return text.length <= 150 && /^[\w-]{1,63}(?:\.[\w-]{1,63})*$/.test(text)
}

function invalidParameter(path: string, message: string): Fault {
  return new Fault('invalid_request', `${message}.`, { details: [{ path, message }] })
}
