import { dataOf, type RecordType } from '../../net/dns.ts'
import { dnsFailureOf } from '../../protocols/dns-queries.ts'
import type { DomainContext } from '../domain-context.ts'
import type { Evidence } from '../shapes.ts'
import { unanswered, unused, type Line, type LineResult } from './line.ts'

export const dnssecLine: Line = { name: 'dnssec', title: 'DNSSEC', check: checkDnssec }

async function checkDnssec(context: DomainContext): Promise<LineResult> {
  const { name, registeredDomain, queries } = context
  const [soa, ds] = await Promise.all([
    queries.query(name, 'SOA'),
    queries.query(registeredDomain, 'DS'),
  ])
  if (await failsValidation(name, 'SOA', context))
    return {
      state: 'bad',
      summary: `The DNSSEC signatures of ${name} are not valid, so resolvers that check them find nothing.`,
      details: ['Sign the zone again, or have the registrar remove the DS record.'],
    }
  const failure = dnsFailureOf(ds) ?? dnsFailureOf(soa)
  if (failure) return unanswered('DNSSEC', failure)
  const keys = dataOf(ds, 'DS')
  if (keys.length === 0) return withoutDs(context)
  const evidence = keys.map((key) => ({
    label: `${registeredDomain} DS`,
    value: `${key.keyTag} ${key.algorithm} ${key.digestType} ${key.digest.toString('hex')}`,
    state: isOutdated(key) ? ('warning' as const) : ('good' as const),
  }))
  if (keys.every(isOutdated))
    return {
      state: 'warning',
      summary: `The DS record of ${registeredDomain} uses SHA-1. Resolvers that no longer accept it treat the domain as unsigned.`,
      details: [
        'Sign the zone with algorithm 13 (ECDSA P-256), and have the registrar publish a DS record with digest type 2 (SHA-256). See RFC 9905.',
      ],
      evidence,
    }
  if (soa.status !== 'FAILED' && soa.isAuthenticated)
    return {
      state: 'good',
      summary: `${registeredDomain} is signed, and the signatures are valid.`,
      evidence,
    }
  if (await context.isValidated(soa)) return notSecured(context, evidence)
  return {
    state: 'unknown',
    summary: `${registeredDomain} is signed, but the resolver of this service does not check signatures.`,
    details: ['Set DNS_SERVERS to a validating resolver on this machine, such as Unbound.'],
    evidence,
  }
}

/** RFC 9905: SHA-1 in DS records (digest type 1) and in RSASHA1 (algorithms 5 and 7). */
function isOutdated({ algorithm, digestType }: { algorithm: number; digestType: number }): boolean {
  return digestType === 1 || algorithm === 5 || algorithm === 7
}

/** The domain has a DS record, and yet the answers for the name are not secure. */
async function notSecured(context: DomainContext, evidence: Evidence[]): Promise<LineResult> {
  const { name, registeredDomain, queries } = context
  const apex = await queries.query(registeredDomain, 'SOA')
  if (name !== registeredDomain && apex.status !== 'FAILED' && apex.isAuthenticated)
    return {
      state: 'warning',
      summary: `${registeredDomain} is signed, but ${name} is in an unsigned zone below it, so DNSSEC does not protect ${name}.`,
      details: [`Sign that zone, and publish its DS record in the zone above it.`],
      evidence,
    }
  return {
    state: 'warning',
    summary: `${registeredDomain} has a DS record, but the answers are not secured by it.`,
    details: [
      'Resolvers ignore a DS record with an algorithm or digest type that they do not know.',
    ],
    evidence,
  }
}

/** Without a DS record at the registry, signatures alone protect nothing. */
async function withoutDs({ registeredDomain, queries }: DomainContext): Promise<LineResult> {
  const answer = await queries.query(registeredDomain, 'DNSKEY')
  const isSigned = answer.status === 'NOERROR' && answer.records.length > 0
  return unused(
    isSigned
      ? `${registeredDomain} is signed, but has no DS record, so DNSSEC does not protect it.`
      : `${registeredDomain} is not signed with DNSSEC.`,
    isSigned ? ['Have the registrar publish the DS record.'] : [],
  )
}

/**
 * Whether records are there, but fail DNSSEC validation: the resolver returns SERVFAIL, and answers
 * when it is asked not to check.
 */
export async function failsValidation(
  name: string,
  type: RecordType,
  { queries, deps, signal }: DomainContext,
): Promise<boolean> {
  const answer = await queries.query(name, type)
  if (answer.status !== 'FAILED' || answer.failure !== 'SERVFAIL') return false
  const unchecked = await deps.resolver.query(name, type, signal, { checkingDisabled: true })
  return unchecked.status !== 'FAILED'
}
