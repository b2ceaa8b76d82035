import { classify, parseAddress } from '../../net/address.ts'
import type { Resolver } from '../../net/dns.ts'
import { mxProblems } from '../../protocols/mail/mx-problems.ts'
import type { DnsAnswers, DnsRecords } from './dns-answers.ts'

/** Mail servers that are looked up. Of a domain with more, only the first are checked. */
const MAX_EXCHANGES_CHECKED = 10

/**
 * Finds problems of a domain’s records and describes them in plain words. Its mail servers are
 * looked up for it.
 */
export async function dnsWarnings(
  name: string,
  answers: DnsAnswers,
  records: DnsRecords,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<string[]> {
  return [
    ...aliasWarnings(name, answers, records),
    ...nameServerWarnings(records),
    ...addressWarnings(records),
    ...spfWarnings(records),
    ...(await exchangeWarnings(records, resolver, signal)),
  ]
}

function aliasWarnings(
  name: string,
  answers: DnsAnswers,
  { cname, a, aaaa }: DnsRecords,
): string[] {
  const [target] = cname
  if (target === undefined) return []
  const beside = Object.entries(answers).flatMap(([field, answer]) => {
    const ownRecords =
      answer.status === 'NOERROR' && answer.cnames.length === 0 && answer.records.length > 0
    return ownRecords && field !== 'cname' ? [field.toUpperCase()] : []
  })
  if (beside.length > 0) {
    return [
      `${name} is an alias (CNAME) and also has ${beside.join(' and ')} records, which RFC 1034 forbids. Resolvers may return either. Remove the CNAME or the other records.`,
    ]
  }
  if (isLoop(name, cname))
    return [`The alias of ${name} is a loop: ${[name, ...cname].join(' → ')}.`]
  const isDangling = a.length + aaaa.length === 0 && isKnown(answers.a) && isKnown(answers.aaaa)
  return isDangling ? [`${name} is an alias for ${cname.at(-1)}, which has no address.`] : []
}

function isLoop(name: string, chain: string[]): boolean {
  return new Set([name, ...chain].map((link) => link.toLowerCase())).size <= chain.length
}

function isKnown(answer: DnsAnswers['a']): boolean {
  return answer.status !== 'FAILED'
}

function nameServerWarnings({ ns, cname }: DnsRecords): string[] {
  if (ns.length !== 1 || cname.length > 0) return []
  return [
    `The domain has only one name server, ${ns[0]}. If it fails, the domain cannot be resolved. RFC 1034 requires two.`,
  ]
}

function addressWarnings({ a, aaaa }: DnsRecords): string[] {
  return [...a, ...aaaa].flatMap((address) => {
    const reach = classify(address)
    return reach.public
      ? []
      : [`${address} is ${reach.why}, which is not reachable from the Internet.`]
  })
}

function spfWarnings({ txt }: DnsRecords): string[] {
  const count = txt.filter((text) => /^v=spf1( |$)/i.test(text)).length
  if (count < 2) return []
  return [
    `The domain has ${count} SPF records. With more than one, SPF fails with permerror (RFC 7208, 4.5). Merge them.`,
  ]
}

async function exchangeWarnings(
  { mx }: DnsRecords,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<string[]> {
  const names = [...new Set(mx.map(({ exchange }) => exchange))]
  if (names.includes('.')) {
    return names.length > 1
      ? [mxProblems.isNotAlone]
      : ['The null MX record means that this domain does not receive mail (RFC 7505).']
  }
  const found = names
    .slice(0, MAX_EXCHANGES_CHECKED)
    .map((exchange) => exchangeWarning(exchange, resolver, signal))
  return (await Promise.all(found)).filter((warning) => warning !== null)
}

async function exchangeWarning(
  exchange: string,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<string | null> {
  if (parseAddress(exchange)) return mxProblems.isAddress(exchange)
  const [v4, v6] = await Promise.all([
    resolver.query(exchange, 'A', signal),
    resolver.query(exchange, 'AAAA', signal),
  ])
  if (v4.status === 'FAILED' || v6.status === 'FAILED') return null
  const [target] = [...v4.cnames, ...v6.cnames]
  if (target !== undefined) return mxProblems.isAlias(exchange, target)
  return v4.records.length + v6.records.length > 0 ? null : mxProblems.hasNoAddress(exchange)
}
