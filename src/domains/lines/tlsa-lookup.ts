import { dataOf, type DnsAnswer } from '../../net/dns.ts'
import { dnsFailureOf } from '../../protocols/dns-queries.ts'
import type { TlsaRecord } from '../../protocols/mail/tlsa.ts'
import type { DomainContext, MailHost } from '../domain-context.ts'
import type { LineState } from '../shapes.ts'
import { failsValidation } from './dnssec-line.ts'

/** `unchecked`: the resolver does not validate. `unknown`: a lookup failed. */
export type Security = 'secure' | 'insecure' | 'unchecked' | 'unknown'

export type TlsaLookup = {
  /** The host that the records are for: the mail server, or the target of its CNAME. */
  base: string
  /** `_25._tcp.` and the base. */
  name: string
  /** Never empty. */
  records: TlsaRecord[]
  security: Security
}

type Failure = { failure: { state: LineState; problem: string } }

/**
 * Looks up the TLSA records of a mail server as senders do (RFC 7672, 2.2.2 and 2.2.3): first at the
 * target of a CNAME, then at the name in the MX record.
 * @returns null for a host without TLSA records
 */
export async function lookUpTlsa(
  mailHost: MailHost,
  context: DomainContext,
): Promise<TlsaLookup | Failure | null> {
  const { bases, security } = await candidatesOf(mailHost, context)
  let insecure: TlsaLookup | null = null
  for (const base of bases) {
    const name = `_25._tcp.${base}`
    const answer = await context.queries.query(name, 'TLSA')
    if (answer.status === 'FAILED') {
      // RFC 7672, 2.2.2: senders do not ask for the TLSA records of a host that is not secure.
      if (security === 'insecure') continue
      return failureOf(name, answer, context)
    }
    const records = dataOf(answer, 'TLSA')
    if (records.length === 0) continue
    const own = security === 'secure' ? await securityOf(answer, context) : security
    const lookup = { base, name, records, security: own }
    if (own !== 'insecure') return lookup
    insecure ??= lookup
  }
  return insecure
}

/** The names whose TLSA records count, and whether the way to the host is secure. */
async function candidatesOf(
  { alias, host, answer }: MailHost,
  context: DomainContext,
): Promise<{ bases: string[]; security: Security }> {
  const security = await securityOf(answer, context)
  if (alias === null) return { bases: [host], security }
  if (security === 'insecure') {
    // RFC 7672, 2.2.2: an alias in a signed zone may lead into an unsigned one. Its name counts.
    const own = await securityOf(await context.queries.query(host, 'CNAME'), context)
    if (own !== 'insecure') return { bases: [host], security: own }
  }
  return { bases: [alias, host], security }
}

async function securityOf(answer: DnsAnswer, context: DomainContext): Promise<Security> {
  if (answer.status === 'FAILED') return 'unknown'
  if (!(await context.isValidated(answer))) return 'unchecked'
  return answer.isAuthenticated ? 'secure' : 'insecure'
}

/** RFC 7672, 2.1.2: when the lookup fails, senders that use DANE wait rather than deliver. */
async function failureOf(
  name: string,
  answer: DnsAnswer,
  context: DomainContext,
): Promise<Failure> {
  if (await failsValidation(name, 'TLSA', context))
    return {
      failure: {
        state: 'bad',
        problem: `The DNSSEC signatures of ${name} are not valid. Senders that use DANE do not deliver there.`,
      },
    }
  const problem = `${name} could not be looked up (${dnsFailureOf(answer)}).`
  return { failure: { state: 'unknown', problem } }
}
