import { isIP } from 'node:net'
import { domainToASCII, domainToUnicode } from 'node:url'
import ipaddr from 'ipaddr.js'
import type { PrivateTargets } from '../setting-values.ts'
import { invalidField } from '../errors.ts'
import { offline } from './offline.ts'

export type Address = { kind: 'ip'; address: string; family: 4 | 6 }
/** `name` in lower-case A-labels without the final dot; `unicode` as people write it. */
export type DomainName = { kind: 'name'; name: string; unicode: string }
export type Host = Address | DomainName

/**
 * Reads an address or a host name as people type it: IPv6 with or without brackets, U-labels or
 * A-labels, any case, with or without the final dot. Underscores are DNS names too
 * (`_dmarc.example.com`).
 * @param path the field it came from, for the fault's details
 * @throws Fault `invalid_request`
 */
export function parseHost(input: string, path = 'host'): Host {
  const text = trimInvisible(input)
  const bare = /^\[(.*)\]$/.exec(text)?.[1] ?? text
  const address = parseAddress(bare)
  if (address && (bare === text || address.family === 6)) return address
  const wrong = whyNotName(text) ?? whyNotAscii(domainToASCII(text))
  if (wrong) throw invalidField(path, wrong, `“${shorten(text)}”`)
  const name = domainToASCII(text).toLowerCase().replace(/\.$/, '')
  return { kind: 'name', name, unicode: domainToUnicode(name) || name }
}

/** Blanks, and characters without a width, such as copied names have around them. */
const INVISIBLE = /[\s\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]/

/** Removes them at both ends, in linear time. */
export function trimInvisible(text: string): string {
  let [start, end] = [0, text.length]
  while (start < end && INVISIBLE.test(text.charAt(start))) start += 1
  while (end > start && INVISIBLE.test(text.charAt(end - 1))) end -= 1
  return text.slice(start, end)
}

/**
 * The address in its canonical form (RFC 5952), or null. Zone ids (`%eth0`) mean nothing to others:
 * null.
 */
export function parseAddress(text: string): Address | null {
  const family = isIP(text)
  if (family === 0 || text.includes('%')) return null
  return { kind: 'ip', address: ipaddr.parse(text).toString(), family: family as 4 | 6 }
}

/** An address as the DNS or a socket gave it, in its canonical form. */
export function canonical(address: string): string {
  return parseAddress(address)?.address ?? address
}

function whyNotName(text: string): string | null {
  if (text === '' || text === '.') return 'is empty'
  if (text.includes('://') || /[/\\?#]/.test(text))
    return 'is a URL or a path; enter only the host name'
  if (text.includes('@')) return 'is an email address or has a user name; enter only the host name'
  if (text.includes(':'))
    return 'has a port or is an invalid IPv6 address; enter only the host name'
  // Copied quotes and brackets have A-labels, too.
  if (/[\p{Pi}\p{Pf}\p{Ps}\p{Pe}"]/u.test(text))
    return 'has quotes or brackets; enter only the host name'
  // domainToASCII decodes “%41” and drops characters silently.
  if (/[\s%\p{Cc}]/u.test(text)) return 'has characters that are not allowed in host names'
  return null
}

function whyNotAscii(ascii: string): string | null {
  const labels = ascii.replace(/\.$/, '').split('.')
  // domainToASCII turns “0x7f.1”, “1.2.3” and full-width digits into other addresses than the text
  // shows.
  if (/^(\d+|0x[\da-f]*)$/i.test(labels.at(-1) ?? ''))
    return 'ends in a number but is not an IP address'
  if (labels.some((label) => label.length > 63)) return 'has a label of more than 63 characters'
  if (ascii.length > 254 || labels.join('.').length > 253) return 'is longer than 253 characters'
  if (labels.includes(''))
    return 'has an empty label, or characters that are not allowed in host names'
  return labels.every((label) => /^[\w-]+$/.test(label))
    ? null
    : 'has characters that are not allowed in host names'
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}

/**
 * Whether an address means the same host everywhere on the Internet, or which special purpose it
 * has.
 */
export type Reach = { public: true } | { public: false; why: string }

/**
 * Classifies an address.
 * @throws Error when `address` is not one
 */
export function classify(address: string): Reach {
  const parsed = ipaddr.parse(address)
  const range: string = parsed.range()
  const isPublic = parsed instanceof ipaddr.IPv6 ? isPublicIPv6(parsed, range) : range === 'unicast'
  // Without a network, examples are as public as any: no address of a stranger has to be one.
  if (offline() && isDocumentation(parsed)) return { public: true }
  return isPublic ? { public: true } : { public: false, why: WHY[range] ?? 'not a public address' }
}

/** RFC 5737 and 3849. */
const DOCUMENTATION = ['192.0.2.0/24', '198.51.100.0/24', '203.0.113.0/24', '2001:db8::/32'].map(
  (network) => ipaddr.parseCIDR(network),
)

function isDocumentation(address: ipaddr.IPv4 | ipaddr.IPv6): boolean {
  return DOCUMENTATION.some(
    (network) => network[0].kind() === address.kind() && address.match(network),
  )
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96')

/**
 * Addresses that contain an IPv4 address (mapped, compatible, 6to4, Teredo) are rejected, except
 * NAT64 of a public one.
 */
function isPublicIPv6(address: ipaddr.IPv6, range: string): boolean {
  if (address.match(NAT64)) return classify(address.toByteArray().slice(12).join('.')).public
  // ipaddr.js calls all of ::/3 unicast that has no other name, “::7f00:1” among it.
  return range === 'unicast' && address.match(GLOBAL_UNICAST)
}

const WHY: Record<string, string> = {
  unspecified: 'not a host address',
  broadcast: 'a broadcast address',
  multicast: 'a multicast address',
  linkLocal: 'a link-local address',
  loopback: 'a loopback address',
  carrierGradeNat: 'an address behind carrier-grade NAT',
  private: 'a private address',
  uniqueLocal: 'a private address',
  deprecatedSiteLocal: 'a private address',
  reserved: 'an address reserved for documentation, tests or future use',
  ipv4Mapped: 'an IPv4 address written as IPv6',
  rfc6145: 'an IPv4 address written as IPv6',
  rfc6052: 'an IPv4 address written as IPv6',
  '6to4': 'a 6to4 address',
  teredo: 'a Teredo address',
}

/**
 * Whether connections to an address are allowed: public addresses, and those that the operator
 * allows.
 */
export function isAllowed(address: string, allowPrivate: PrivateTargets): boolean {
  if (allowPrivate === true || classify(address).public) return true
  const parsed = ipaddr.parse(address)
  return (
    allowPrivate !== false &&
    allowPrivate.some((cidr) => parsed.kind() === cidr[0].kind() && parsed.match(cidr))
  )
}

/** The labels that stand for an address in the DNS: octets (`4.2.0.192`) or nibbles, last first. */
export function reversedLabels(address: string): string {
  const bytes = ipaddr.parse(address).toByteArray()
  const labels =
    bytes.length === 4 ? bytes.map(String) : Buffer.from(bytes).toString('hex').split('')
  return labels.toReversed().join('.')
}

/** The name whose PTR record names the address: `4.2.0.192.in-addr.arpa`. */
export function reverseName(address: string): string {
  return `${reversedLabels(address)}.${isIP(address) === 4 ? 'in-addr' : 'ip6'}.arpa`
}
