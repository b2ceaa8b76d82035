import { createHmac } from 'node:crypto'
import ipaddr from 'ipaddr.js'
import { classify } from '../net/address.ts'
import { networkOf } from './subject.ts'

/** Who reports, without an address: keyed pseudonyms, of no use to anybody who has not the key. */
export type Reporter = {
  /** What the rate is limited by: an IPv4 address or an IPv6 /64. */
  source: string
  /** What has a reputation: a /24 or a /48. */
  network: string
  /** What counts as independent: an autonomous system, or a /16 or /32 where none is known. */
  origin: string
  /** The address under which the reporter itself might be listed; null when it is no public one. Never stored. */
  key: string | null
  /** The address itself, to find it among the sensors, and its /24 or /48. Never stored. */
  address: string
  neighbourhood: string
}

/** The number of the autonomous system that announces an address, or null. */
export type FindOrigin = (address: string) => number | null

/**
 * @param secret key of the pseudonyms
 * @param findOrigin a table of autonomous systems, where the operator has one
 */
export function createReporters(secret: string, findOrigin: FindOrigin): (address: string) => Reporter {
  const recent = new Map<string, Reporter>()
  const pseudonym = (kind: string, text: string) =>
    createHmac('sha256', secret).update(`${kind} ${text}`).digest('base64url').slice(0, 12)

  function describe(address: string): Reporter {
    const parsed = ipaddr.process(address)
    const ip = parsed.toString()
    const [host, network, region] = parsed.kind() === 'ipv4' ? [32, 24, 16] : [64, 48, 32]
    const neighbourhood = networkOf(parsed, network)
    const system = findOrigin(ip)
    return {
      source: pseudonym('source', networkOf(parsed, host)),
      network: pseudonym('network', neighbourhood),
      origin: pseudonym('origin', system === null ? networkOf(parsed, region) : `AS${system}`),
      key: classify(ip).public ? (host === 32 ? ip : networkOf(parsed, 64)) : null,
      address: ip,
      neighbourhood,
    }
  }

  return (address) => {
    const known = recent.get(address)
    if (known) return known
    const reporter = describe(address)
    // Whoever reports, reports again; a bound against whoever comes from everywhere.
    if (recent.size >= 50_000) recent.clear()
    recent.set(address, reporter)
    return reporter
  }
}

/** How a network is called in the evidence of one address, and of no other: nobody can follow it. */
export function aliasOf(network: string, subject: string): string {
  return createHmac('sha256', network).update(subject).digest('base64url').slice(0, 8)
}
