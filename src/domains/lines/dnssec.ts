import { dataOf, type RecordType } from '../../net/dns.ts'
import { dnsFailureOf } from '../../protocols/dns-queries.ts'
import type { DomainContext } from '../domain-context.ts'
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
  const evidence = keys.map(({ keyTag, algorithm, digestType, digest }) => ({
    label: `${registeredDomain} DS`,
    value: `${keyTag} ${algorithm} ${digestType} ${digest.toString('hex')}`,
    state: 'good' as const,
  }))
  if (soa.status !== 'FAILED' && soa.isAuthenticated)
    return {
      state: 'good',
      summary: `${registeredDomain} is signed, and the signatures are valid.`,
      evidence,
    }
  if (await context.isValidated(soa))
    return {
      state: 'warning',
      summary: `${registeredDomain} has a DS record, but the answers are not secured by it.`,
      evidence,
    }
  return {
    state: 'unknown',
    summary: `${registeredDomain} is signed, but the resolver of this service does not check signatures.`,
    details: ['Set DNS_SERVERS to a validating resolver on this machine, such as Unbound.'],
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
