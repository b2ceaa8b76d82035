import { dataOf, type DnsFailure } from '../../net/dns.ts'
import { dnsFailureOf, type DnsQueries } from '../dns-queries.ts'

/** Whether mail can come to a name, and to whom. */
export type MailUse = {
  /**
   * `mx`: to its mail servers. `address`: to the host itself, for want of an MX (RFC 5321, 5.1).
   * `nothing`: a null MX (RFC 7505), or neither MX nor address. `unknown`: could not be asked.
   */
  receives: 'mx' | 'address' | 'nothing' | 'unknown'
  /** Host names of the mail servers, first the one to try first. */
  exchanges: string[]
  error: DnsFailure | null
}

export async function lookUpMailUse(domain: string, queries: DnsQueries): Promise<MailUse> {
  const [mx, v4, v6] = await Promise.all([
    queries.query(domain, 'MX'),
    queries.query(domain, 'A'),
    queries.query(domain, 'AAAA'),
  ])
  const exchanges = dataOf(mx, 'MX')
    .toSorted((one, other) => (one.preference ?? 0) - (other.preference ?? 0))
    .map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, ''))
  const named = exchanges.filter((exchange) => exchange !== '')
  if (named.length > 0) return { receives: 'mx', exchanges: named, error: null }
  if (exchanges.length > 0) return { receives: 'nothing', exchanges: [], error: null }
  const hasAddress = dataOf(v4, 'A').length + dataOf(v6, 'AAAA').length > 0
  const error = dnsFailureOf(mx) ?? (hasAddress ? null : (dnsFailureOf(v4) ?? dnsFailureOf(v6)))
  if (error) return { receives: 'unknown', exchanges: [], error }
  return { receives: hasAddress ? 'address' : 'nothing', exchanges: [], error: null }
}

/** The hosts that receive the mail of a domain: without MX, the domain itself (RFC 5321, 5.1). */
export function receivingHosts(domain: string, { receives, exchanges }: MailUse): string[] {
  return receives === 'address' ? [domain] : [...new Set(exchanges)]
}
