import { createHmac } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { classify } from '../../net/address.ts'
import { createRecentEntries } from '../../recent-entries.ts'
import { KNOWN_ORIGIN } from '../scoring/score.ts'
import { networkOf } from '../../protocols/networks/read-network.ts'

/** The reporter without an address: keyed pseudonyms, which are useless without the key. */
export type Reporter = {
  /** The key of the rate limit: an IPv4 address or an IPv6 /64. */
  source: string
  /** For IPv6 also the /48, which contains 65,536 of those; null for IPv4. */
  site: string | null
  /** The network that has a reputation: a /24 or a /48. */
  network: string
  /**
   * The origin that counts as independent: the operator of an autonomous system, or a /16 or /32 if
   * it is unknown.
   */
  origin: string
  /**
   * The address under which the reporter itself might be listed; null when it is no public one.
   * Never stored.
   */
  key: string | null
  /** The address itself, to find it among the sensors, and its /24 or /48. Never stored. */
  address: string
  neighbourhood: string
}

/** One number for all autonomous systems of the operator that announces an address, or null. */
export type FindOrigin = (address: string) => number | null

/** Reporters kept per instance: they usually report again, and a sender may have many addresses. */
const MAX_RECENT_REPORTERS = 50_000

/**
 * @param secret key of the pseudonyms
 * @param findOrigin a table of autonomous systems, where the operator has one
 */
export function createReporters(
  secret: string,
  findOrigin: FindOrigin,
): (address: string) => Reporter {
  const recent = createRecentEntries<Reporter>(MAX_RECENT_REPORTERS)
  const pseudonym = (kind: string, text: string) =>
    createHmac('sha256', secret).update(`${kind} ${text}`).digest('base64url').slice(0, 12)

  function describe(address: string): Reporter {
    const given = ipaddr.process(address)
    const embedded = embeddedIPv4(given)
    const parsed = embedded ?? given
    const ip = parsed.toString()
    const [host, network, region] = parsed.kind() === 'ipv4' ? [32, 24, 16] : [64, 48, 32]
    const neighbourhood = networkOf(parsed, network)
    const operator = findOrigin(ip)
    return {
      source: pseudonym('source', networkOf(parsed, host)),
      site: host === 64 ? pseudonym('site', neighbourhood) : null,
      network: pseudonym('network', neighbourhood),
      origin:
        operator === null
          ? pseudonym('origin', networkOf(parsed, region))
          : `${KNOWN_ORIGIN}${pseudonym('origin', `AS${operator}`)}`,
      // Through a relay, packets may seem to come from any IPv4 address: such a sender can report,
      // but not appeal.
      key: embedded || !classify(ip).public ? null : host === 32 ? ip : networkOf(parsed, 64),
      address: given.toString(),
      neighbourhood,
    }
  }

  return (address) => {
    const known = recent.get(address)
    if (known) return known
    const reporter = describe(address)
    recent.set(address, reporter)
    return reporter
  }
}

/**
 * The IPv4 address embedded in an IPv6 address, which belongs to the same machine: 6to4 (RFC 3056),
 * Teredo (RFC 4380, inverted bits at the end) and NAT64 (RFC 6052). Otherwise one machine would be
 * many networks.
 */
function embeddedIPv4(address: ipaddr.IPv4 | ipaddr.IPv6): ipaddr.IPv4 | null {
  const bytes = address.toByteArray()
  const range: string = address.range()
  if (range === '6to4') return new ipaddr.IPv4(bytes.slice(2, 6))
  if (range === 'teredo') return new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))
  return range === 'rfc6052' ? new ipaddr.IPv4(bytes.slice(12)) : null
}

/**
 * The pseudonym of a network in the evidence of one address, and in no other, so that a network
 * cannot be followed across addresses.
 */
export function aliasOf(network: string, subject: string): string {
  return createHmac('sha256', network).update(subject).digest('base64url').slice(0, 8)
}
