import ipaddr from 'ipaddr.js'
import { Fault, invalidField } from '../errors.ts'
import { classify, parseAddress, type Reach } from '../net/address.ts'
import { networkOf } from '../protocols/networks/read-network.ts'

/** The address a report is about. */
export type Subject = {
  /** In its canonical form. */
  ip: string
  /** The scored prefix: an IPv4 address or an IPv6 /64. */
  key: string
  /** The /24 or /48 around it. Reports from there have no weight. */
  neighbourhood: string
}

const MAX_ADDRESS_CHARS = 45
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3')

/**
 * Parses the address of a host on the Internet. An IPv4 address written as IPv6 (`::ffff:…`) is
 * that IPv4 address.
 * @throws Fault `invalid_request` for text that is no address, and for special-purpose addresses
 */
export function readSubject(text: string): Subject {
  const address = text.length <= MAX_ADDRESS_CHARS ? parseAddress(text) : null
  if (!address || isMisleading(text)) throw refuse(text, 'is not an IP address')
  const parsed = ipaddr.process(address.address)
  const ip = parsed.toString()
  const reach = reachOf(parsed)
  if (!reach.public) throw refuse(text, `is ${reach.why}; only public addresses can be reported`)
  return parsed.kind() === 'ipv4'
    ? { ip, key: ip, neighbourhood: networkOf(parsed, 24) }
    : { ip, key: networkOf(parsed, 64), neighbourhood: networkOf(parsed, 48) }
}

/** Parses an address as `readSubject` does; null for one that cannot be reported. */
export function findSubject(text: string): Subject | null {
  try {
    return readSubject(text)
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

/**
 * `::8.8.8.8` and its like: of all that end in an IPv4 address only a mapped one, in any spelling
 * (RFC 4291, 2.5.5.2), means that address.
 */
function isMisleading(text: string): boolean {
  if (!text.includes(':') || !text.includes('.')) return false
  // ipaddr.js takes `::8.8.8.8` for a mapped address, so the groups are written out before.
  const groups = new URL(`http://[${text}]`).hostname.slice(1, -1)
  return !ipaddr.IPv6.parse(groups).isIPv4MappedAddress()
}

/** NAT64 of a public address can be connected to, but the attacker has the IPv4 address. */
function reachOf(address: ipaddr.IPv4 | ipaddr.IPv6): Reach {
  const reach = classify(address.toString())
  if (!reach.public || address instanceof ipaddr.IPv4 || address.match(GLOBAL_UNICAST)) return reach
  return { public: false, why: 'an IPv4 address written as IPv6' }
}

function refuse(text: string, message: string): Fault {
  const shown = text.length > MAX_ADDRESS_CHARS ? `${text.slice(0, MAX_ADDRESS_CHARS)}…` : text
  return invalidField('ip', message, `“${shown}”`)
}
