import { dataOf, type DnsAnswer } from '../../net/dns.ts'
import { dnsFailureOf } from '../../protocols/dns-queries.ts'
import type { TlsaRecord } from '../../protocols/mail/tlsa.ts'
import type { DomainContext, MailHost } from '../domain-context.ts'
import type { LineState } from '../shapes.ts'
import { failsValidation } from './dnssec.ts'

/** `unchecked`: the resolver does not validate. */
export type Security = 'secure' | 'insecure' | 'unchecked'

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
 * Looks up the TLSA records of a mail server as senders do: first at the target of a CNAME, then at
 * the name in the MX record (RFC 7672, 2.2.2).
 * @returns null for a host without TLSA records
 */
export async function lookUpTlsa(
  mailHost: MailHost,
  context: DomainContext,
): Promise<TlsaLookup | Failure | null> {
  const { alias, host } = mailHost
  for (const base of alias === null ? [host] : [alias, host]) {
    const name = `_25._tcp.${base}`
    const answer = await context.queries.query(name, 'TLSA')
    if (dnsFailureOf(answer)) return failureOf(name, answer, context)
    const records = dataOf(answer, 'TLSA')
    if (records.length > 0)
      return { base, name, records, security: await securityOf(answer, mailHost, context) }
  }
  return null
}

/** RFC 7672, 2.1.3: when the lookup fails, senders that use DANE wait rather than deliver. */
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

/** RFC 7672, 2.2.2: the addresses of the host must be secure, too. */
async function securityOf(
  answer: DnsAnswer,
  { isAuthenticated }: MailHost,
  context: DomainContext,
): Promise<Security> {
  if (!(await context.isValidated(answer))) return 'unchecked'
  return isAuthenticated && answer.status !== 'FAILED' && answer.isAuthenticated
    ? 'secure'
    : 'insecure'
}
