import type { CertificateFacts } from '../../net/tls/certificate.ts'
import type { TlsFacts } from '../../net/tls/probe-tls.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import {
  compareTlsa,
  DANE_TA,
  formatTlsa,
  recommendedTlsa,
  type TlsaRecord,
  type TlsaResult,
} from '../../protocols/mail/tlsa.ts'
import type { DomainContext, MailHost } from '../domain-context.ts'
import { propose, type Proposal } from '../fixes/proposal.ts'
import type { Evidence, LineState } from '../shapes.ts'
import { obstacleOf } from './certificates-line.ts'
import { counted } from '../../counted.ts'
import { unanswered, unused, worstOf, type Line, type LineResult } from './line.ts'
import { lookUpTlsa, type Security, type TlsaLookup } from './tlsa-lookup.ts'

type Verdict = { state: LineState; problem: string | null }
type Finding = Verdict & { evidence: Evidence[]; proposals: Proposal[] }

export const daneLine: Line = { name: 'dane', title: 'DANE', check: checkDane }

async function checkDane(context: DomainContext): Promise<LineResult> {
  const { receives, error } = await context.mailUse()
  if (receives === 'unknown') return unanswered('The MX records', error ?? 'no answer')
  const { hosts } = await context.mailHosts()
  const found = await Promise.all(hosts.map((host) => checkHost(host, context)))
  const findings = found.filter((finding) => finding !== null)
  if (findings.length === 0) return unused('The mail servers do not use DANE.')
  const problems = findings.flatMap(({ problem }) => problem ?? [])
  const without = hosts.length - findings.length
  return {
    state: worstOf(findings.map((finding) => finding.state)),
    summary:
      problems[0] ??
      `The TLSA records confirm the ${findings.length === 1 ? 'certificate' : 'certificates'} of ${counted(findings.length, 'mail server')}.`,
    details: [
      ...problems.slice(1),
      ...(without > 0
        ? [`${counted(without, 'mail server has', 'mail servers have')} no TLSA record.`]
        : []),
      ...(await mxRemarks(context)),
    ],
    evidence: findings.flatMap(({ evidence }) => evidence),
    proposals: findings.flatMap(({ proposals }) => proposals),
  }
}

/** RFC 7672, 2.2.1: whoever can change unsigned MX records can lead senders past DANE. */
async function mxRemarks(context: DomainContext): Promise<string[]> {
  const mx = await context.queries.query(context.name, 'MX')
  if (mx.status === 'FAILED' || mx.isAuthenticated || !(await context.isValidated(mx))) return []
  return [
    `The MX records of ${context.unicode} are not secured by DNSSEC, so DANE does not protect against an attacker who changes them.`,
  ]
}

/** @returns null for a host without TLSA records */
async function checkHost(mailHost: MailHost, context: DomainContext): Promise<Finding | null> {
  const { host } = mailHost
  const lookup = await lookUpTlsa(mailHost, context)
  if (lookup === null) return null
  if ('failure' in lookup) return { ...lookup.failure, evidence: [], proposals: [] }
  // RFC 7672, 8.1: the name in SNI is that of the TLSA records, also where it is a CNAME’s target.
  const ask = { host, context, options: lookup.base === host ? {} : { servername: lookup.base } }
  const probe = await context.probe(host, 'smtp', ask.options)
  const chain = 'facts' in probe ? await sentChain(probe.facts, lookup.records, ask) : null
  const names = [...new Set([lookup.base, host, context.name])]
  const results = compareTlsa(lookup.records, chain ?? [], names)
  const verdict = chain
    ? verdictOf(host, results, lookup.security)
    : withoutCertificate(host, lookup.security, 'fault' in probe && obstacleOf(probe.fault) === 'no-tls') // prettier-ignore
  const isSettled = verdict.state === 'bad' || verdict.state === 'warning'
  const isWrong = isSettled && lookup.security !== 'insecure' && haveNoMatch(results)
  return {
    ...verdict,
    evidence: results.map((result) => evidenceOf(lookup, result, chain !== null)),
    proposals: isWrong && chain ? proposalsFor(lookup, results, { chain, verdict, context }) : [],
  }
}

function haveNoMatch(results: TlsaResult[]): boolean {
  const statuses = new Set(results.map(({ status }) => status))
  return statuses.has('mismatched') && !statuses.has('matched')
}

type Asked = { host: string; context: DomainContext; options: { servername?: string } }

/**
 * The certificates that the server sent. The root of `chain` may be from our own store instead,
 * where senders do not look for it (RFC 7672, 3.1.2). A handshake without our roots shows it.
 */
async function sentChain(
  { chain }: TlsFacts,
  records: readonly TlsaRecord[],
  { host, context, options }: Asked,
): Promise<CertificateFacts[] | null> {
  const mayBeOurs = chain.length > 1 && chain.at(-1)?.isSelfIssued
  if (!mayBeOurs || !records.some(({ usage }) => usage === DANE_TA)) return chain
  const again = await context.probe(host, 'smtp', { ...options, withoutRoots: true })
  if ('fault' in again) return null
  const { chain: sent, trustError } = again.facts
  // Node loses a root that was sent before its issuer; the code shows it.
  const isRootSent = sent.at(-1)?.isSelfIssued || trustError === 'SELF_SIGNED_CERT_IN_CHAIN'
  return isRootSent ? chain : chain.slice(0, -1)
}

const NOT_DELIVERED = 'Senders that use DANE do not deliver there.'

function ignored(host: string): Verdict {
  return {
    state: 'warning',
    problem: `The TLSA records of ${host} are not secured by DNSSEC, so senders ignore them.`,
  }
}

function notLookedUp(host: string): Verdict {
  return {
    state: 'unknown',
    problem: `The addresses of ${host} could not be looked up, so its TLSA records were not compared.`,
  }
}

function withoutCertificate(host: string, security: Security, hasNoTls: boolean): Verdict {
  if (security === 'insecure') return ignored(host)
  if (security === 'unknown') return notLookedUp(host)
  // RFC 7672, 2.2: with secure TLSA records, TLS is mandatory.
  if (security === 'secure' && hasNoTls)
    return {
      state: 'bad',
      problem: `${host} has TLSA records, but does not offer TLS. ${NOT_DELIVERED}`,
    }
  return {
    state: 'unknown',
    problem: `The certificate of ${host} could not be read, so its TLSA records were not compared.`,
  }
}

function verdictOf(host: string, results: TlsaResult[], security: Security): Verdict {
  const usable = results.filter(({ status }) => status !== 'unusable')
  const matched = usable.filter(({ status }) => status === 'matched')
  if (security === 'insecure') return ignored(host)
  if (security === 'unknown') return notLookedUp(host)
  if (usable.length === 0)
    return {
      state: 'warning',
      problem: `Senders cannot use the TLSA records of ${host}: ${results[0]?.reason ?? ''}.`,
    }
  if (matched.length === 0) return mismatch(host, usable, security)
  if (matched.every(({ reason }) => reason !== null))
    return {
      state: 'warning',
      problem: `Not every sender can use the TLSA records of ${host}: ${matched[0]?.reason}.`,
    }
  if (security === 'secure') return { state: 'good', problem: null }
  return {
    state: 'unknown',
    problem: `The TLSA records match the certificate of ${host}, but the resolver of this service does not check DNSSEC.`,
  }
}

function mismatch(host: string, usable: TlsaResult[], security: Security): Verdict {
  const reason = usable.find((result) => result.reason !== null)?.reason
  const what = `No TLSA record ${reason ? 'confirms' : 'matches'} the certificate of ${host}${reason ? `: ${reason}` : ''}.`
  if (security === 'secure') return { state: 'bad', problem: `${what} ${NOT_DELIVERED}` }
  return {
    state: 'warning',
    problem: `${what} If its zone is signed, senders that use DANE do not deliver there; the resolver of this service does not check DNSSEC.`,
  }
}

function evidenceOf(
  { name }: TlsaLookup,
  { record, status }: TlsaResult,
  isCompared: boolean,
): Evidence {
  const states: Record<TlsaResult['status'], LineState> = {
    matched: 'good',
    mismatched: 'warning',
    unusable: 'warning',
  }
  const state = isCompared ? states[status] : 'unknown'
  return { label: `${name} TLSA`, value: formatTlsa(record), state }
}

type Basis = { chain: readonly CertificateFacts[]; verdict: Verdict; context: DomainContext }

function proposalsFor(
  { base, name }: TlsaLookup,
  results: readonly TlsaResult[],
  { chain: [leaf], verdict, context }: Basis,
): Proposal[] {
  const proposal = leaf && recommendedTlsa(leaf)
  if (!proposal || registeredDomain(base) !== context.registeredDomain) return []
  const value = formatTlsa(proposal)
  const published = results.map(({ record, reason }) => ({
    text: formatTlsa(record),
    reason: reason
      ? `Senders do not accept it: ${reason}.`
      : 'It does not match the certificate that the server presents.',
  }))
  return [
    propose({
      name,
      type: 'TLSA',
      line: 'dane',
      severity: verdict.state === 'bad' ? 'bad' : 'warning',
      published: published.map(({ text }) => text),
      value,
      changes: [
        ...published.map(({ text, reason }) => ({ removed: text, added: null, reason })),
        { removed: null, added: value, reason: 'The digest of the key that the server presents.' },
      ],
      caution: 'Publish the record of the next key before you change it, two TTLs earlier.',
    }),
  ]
}
