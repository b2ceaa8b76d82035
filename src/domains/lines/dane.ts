import { dataOf } from '../../net/dns.ts'
import type { CertificateFacts } from '../../net/tls/certificate.ts'
import { dnsFailureOf } from '../../protocols/dns-queries.ts'
import { registeredDomain } from '../../protocols/dmarc/public-suffix.ts'
import {
  compareTlsa,
  formatTlsa,
  recommendedTlsa,
  type TlsaRecord,
  type TlsaResult,
} from '../../protocols/mail/tlsa.ts'
import type { DomainContext } from '../domain-context.ts'
import { propose, type Proposal } from '../fixes/proposal.ts'
import type { Evidence, LineState } from '../shapes.ts'
import { counted, unused, worstOf, type Line, type LineResult } from './line.ts'

type Finding = {
  host: string
  state: LineState
  problem: string | null
  evidence: Evidence[]
  proposals: Proposal[]
}

export const daneLine: Line = { name: 'dane', title: 'DANE', check: checkDane }

async function checkDane(context: DomainContext): Promise<LineResult> {
  const { hosts } = await context.mailHosts()
  const found = await Promise.all(hosts.map(({ host }) => checkHost(host, context)))
  const findings = found.filter((finding) => finding !== null)
  if (findings.length === 0) return unused('The mail servers do not use DANE.')
  const state = worstOf(findings.map((finding) => finding.state))
  const problems = findings.flatMap(({ problem }) => problem ?? [])
  const partial = hosts.length - findings.length
  return {
    state,
    summary:
      problems[0] ??
      `The TLSA records confirm the ${findings.length === 1 ? 'certificate' : 'certificates'} of ${counted(findings.length, 'mail server')}.`,
    details: [
      ...problems.slice(1),
      ...(partial > 0
        ? [`${counted(partial, 'mail server has', 'mail servers have')} no TLSA record.`]
        : []),
    ],
    evidence: findings.flatMap(({ evidence }) => evidence),
    proposals: findings.flatMap(({ proposals }) => proposals),
  }
}

/** @returns null for a host without TLSA records */
async function checkHost(host: string, context: DomainContext): Promise<Finding | null> {
  const name = `_25._tcp.${host}`
  const answer = await context.queries.query(name, 'TLSA')
  const none = { host, evidence: [], proposals: [] }
  const failure = dnsFailureOf(answer)
  if (failure)
    return { ...none, state: 'unknown', problem: `${name} could not be looked up (${failure}).` }
  const records = dataOf(answer, 'TLSA')
  if (records.length === 0) return null
  const isSecure = answer.status !== 'FAILED' && answer.isAuthenticated
  const probe = await context.probe(host, 'smtp')
  const chain = 'facts' in probe ? sentChain(probe.facts) : null
  const results = records.map((record) => compareTlsa(record, chain ?? []))
  const verdict = chain
    ? verdictOf(host, results, { isSecure, isValidating: await context.isValidating() })
    : {
        state: 'unknown' as const,
        problem: `The certificate of ${host} could not be read, so its TLSA records were not compared.`,
      }
  return {
    host,
    ...verdict,
    evidence: results.map((result) => evidenceOf(name, result, chain !== null)),
    proposals: chain && verdict.state === 'bad' ? proposalsFor(name, records, chain, context) : [],
  }
}

/** A trusted root comes from our own store, not from the server. */
function sentChain({ chain, isTrusted }: { chain: CertificateFacts[]; isTrusted: boolean }) {
  const last = chain.at(-1)
  return isTrusted && chain.length > 1 && last?.isSelfIssued ? chain.slice(0, -1) : chain
}

function verdictOf(
  host: string,
  results: TlsaResult[],
  { isSecure, isValidating }: { isSecure: boolean; isValidating: boolean },
): { state: LineState; problem: string | null } {
  const usable = results.filter(({ status }) => status !== 'unusable')
  const isMatched = usable.some(({ status }) => status === 'matched')
  if (!isSecure && isValidating)
    return {
      state: 'warning',
      problem: `The TLSA records of ${host} are not secured by DNSSEC, so senders ignore them.`,
    }
  if (usable.length === 0)
    return {
      state: 'warning',
      problem: `Senders cannot use the TLSA records of ${host}: ${results[0]?.reason ?? ''}.`,
    }
  if (!isMatched)
    return {
      state: 'bad',
      problem: `No TLSA record matches the certificate of ${host}. Senders that use DANE do not deliver there.`,
    }
  if (isSecure) return { state: 'good', problem: null }
  return {
    state: 'unknown',
    problem: `The TLSA records match the certificate of ${host}, but the resolver of this service does not check DNSSEC.`,
  }
}

function evidenceOf(name: string, { record, status }: TlsaResult, isCompared: boolean): Evidence {
  const states: Record<TlsaResult['status'], LineState> = {
    matched: 'good',
    mismatched: 'warning',
    unusable: 'warning',
  }
  const state = isCompared ? states[status] : 'unknown'
  return { label: `${name} TLSA`, value: formatTlsa(record), state }
}

function proposalsFor(
  name: string,
  records: TlsaRecord[],
  [leaf]: readonly CertificateFacts[],
  { registeredDomain: ours }: DomainContext,
): Proposal[] {
  const proposal = leaf && recommendedTlsa(leaf)
  const host = name.replace(/^_25\._tcp\./, '')
  if (!proposal || registeredDomain(host) !== ours) return []
  const published = records.map(formatTlsa)
  const value = formatTlsa(proposal)
  const reason = 'It does not match the certificate that the server presents.'
  return [
    propose({
      name,
      type: 'TLSA',
      line: 'dane',
      severity: 'bad',
      published,
      value,
      changes: [
        ...published.map((removed) => ({ removed, added: null, reason })),
        { removed: null, added: value, reason: 'The digest of the key that the server presents.' },
      ],
      caution: 'Publish the record of the next key before you change it, two TTLs earlier.',
    }),
  ]
}
