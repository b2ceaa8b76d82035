import { canonical, reverseName } from '../../net/address.ts'
import { dataOf, type DnsAnswer, type Resolver } from '../../net/dns.ts'

/**
 * The reverse DNS of an address. `confirmed`: at least one of its names resolves to it; those come
 * first. `unconfirmed`: it has names, and none does. `missing`: it has none. `unknown`: it could
 * not be looked up.
 */
export type ReverseDns = {
  status: 'confirmed' | 'unconfirmed' | 'missing' | 'unknown'
  names: string[]
}

/** More names than any host needs. Each costs a query (RFC 8601, 2.7.3 recommends a limit). */
const MAX_NAMES = 10

/**
 * Looks up the names of an address, and whether they resolve to it (RFC 8601, 2.7.3: iprev). Never
 * throws.
 */
export async function lookUpReverse(
  ip: string,
  resolver: Resolver,
  signal?: AbortSignal,
): Promise<ReverseDns> {
  const answer = await resolver.query(reverseName(ip), 'PTR', signal)
  if (answer.status === 'FAILED') return { status: 'unknown', names: [] }
  const names = dataOf(answer, 'PTR').slice(0, MAX_NAMES).map(withoutDot)
  if (names.length === 0) return { status: 'missing', names }
  const type = ip.includes(':') ? 'AAAA' : 'A'
  const answers = await Promise.all(names.map((name) => resolver.query(name, type, signal)))
  const leadsBack = answers.map((found) =>
    dataOf(found, type).map(canonical).includes(canonical(ip)),
  )
  const confirmed = names.filter((_name, index) => leadsBack[index])
  const rest = names.filter((_name, index) => !leadsBack[index])
  return { status: statusOf(confirmed.length > 0, answers), names: [...confirmed, ...rest] }
}

function statusOf(isConfirmed: boolean, answers: DnsAnswer[]): ReverseDns['status'] {
  if (isConfirmed) return 'confirmed'
  return answers.some(({ status }) => status === 'FAILED') ? 'unknown' : 'unconfirmed'
}

function withoutDot(name: string): string {
  return name.replace(/\.$/, '').toLowerCase()
}

/** Whether a name is one that a provider made out of the address, as for its dial-up customers. */
export function isGenericName(name: string, ip: string): boolean {
  if (
    /(^|[.-])(dyn|dynamic|dhcp|pool|ppp|pppoe|dsl|adsl|dialup|cable|broadband)(\d|\.|-\d)/.test(
      `${name}.`,
    )
  )
    return true
  if (ip.includes(':')) return false
  const octets = ip.split('.')
  const spellings = [octets, octets.toReversed()].flatMap((order) => [
    order.join('-'),
    order.join('.'),
    order.map((octet) => octet.padStart(3, '0')).join(''),
    order.map((octet) => Number(octet).toString(16).padStart(2, '0')).join(''),
    order.slice(1).join('-'),
    order.slice(0, 3).join('-'),
  ])
  return spellings.some((spelling) => name.includes(spelling))
}
