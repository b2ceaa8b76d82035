import { getDomain } from 'tldts'
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

/** Words for lines of customers, as a whole part of a label. */
const CUSTOMER_LINE =
  /(^|[.-])(dyn|dynamic|dhcp|pool|ppp|pppoe|dsl|adsl|dialup|cable|broadband)(\d|\.|-\d|$)/

/**
 * Whether a name is one that a provider made out of the address, as for its dial-up customers. The
 * registered domain is no part of it: its owner chose that.
 */
export function isGenericName(name: string, ip: string): boolean {
  const host = hostPart(name)
  if (CUSTOMER_LINE.test(host)) return true
  if (ip.includes(':')) return false
  const octets = ip.split('.')
  return [octets, octets.toReversed()].some((order) => {
    const decimals = order.map((octet) => octet.padStart(3, '0')).join('')
    const hex = order.map((octet) => Number(octet).toString(16).padStart(2, '0')).join('')
    const whole = [order.join('-'), order.join('.'), decimals]
    const parts = [order.slice(1).join('-'), order.slice(0, 3).join('-')]
    return (
      whole.some((text) => standsIn(host, text, '\\d')) ||
      standsIn(host, hex, '[\\da-f]') ||
      // Three numbers are also racks and places in them: `rack1-2-3`, `1-2-3-a`.
      parts.some((text) => standsIn(host, text, '[a-z\\d]|-\\d|\\d-'))
    )
  })
}

/** Whether a name has a text that does not go on, before it or behind it, as this pattern says. */
function standsIn(name: string, text: string, continuation: string): boolean {
  const literal = text.replaceAll('.', '\\.')
  return new RegExp(`(?<!${continuation})${literal}(?!${continuation})`).test(name)
}

/** The labels below the registered domain. */
function hostPart(name: string): string {
  const domain = getDomain(name) ?? name
  return name.slice(0, -domain.length).replace(/\.$/, '')
}
