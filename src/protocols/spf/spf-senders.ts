import {
  countAddresses,
  createAddressSet,
  EVERY_ADDRESS,
  rangeOfNetwork,
  type AddressRange,
  type AddressSet,
} from '../../net/address-ranges.ts'
import { canonical } from '../../net/address.ts'
import { effectiveTerms, type SpfTerm } from './spf-record.ts'
import { leadsToRecord, type SpfNode, type SpfTree } from './spf-tree.ts'

/** A network that may send for a domain. */
export type SenderNetwork = {
  /** The first address as published, in canonical form where the term names an address. */
  address: string
  family: 4 | 6
  prefix: number
  /** The record and the term that permit it: `_spf.example.net ip4:192.0.2.0/24`. */
  via: string
}

/** A term through which strangers may send. */
export type OpenTerm = {
  /** The domain of its record. */
  domain: string
  term: string
  /** The term of the domain’s own record that leads to it; null when it stands there itself. */
  via: string | null
  /** Whether it matches every server, rather than large networks. */
  matchesAll: boolean
}

export type Senders = {
  /** Whether no term permits anyone, not even an address that no mail on the Internet comes from. */
  isEmpty: boolean
  /** In the order of the terms, each network once. */
  networks: SenderNetwork[]
  /** Different public IPv4 addresses that may send. */
  ipv4Count: number
  /** IPv6 networks that may send, of which none lies within another. */
  ipv6Networks: number
  /** The terms through which anyone may send; empty when only certain servers may. */
  open: OpenTerm[]
  /** Terms whose addresses depend on the mail (`exists`, `ptr`, macros). */
  dependentTerms: string[]
  /** Terms whose addresses could not be looked up. */
  failedTerms: string[]
  permits: (address: string) => boolean
}

/** More addresses than one organisation has: one and a half IPv4 /8, an IPv6 /15. */
const OPEN_FROM = { 4: 3n << 23n, 6: 1n << 113n }

/** Networks that are collected; a record of 64 KiB has some four thousand. */
const MAX_NETWORKS = 20_000

/**
 * The addresses that mail on the Internet can come from. Those for documentation stay, as they
 * stand for public ones in examples.
 */
const PUBLIC_ADDRESSES = (() => {
  const addresses = createAddressSet([rangeOfNetwork('0.0.0.0', 0)])
  const others: [string, number][] = [
    ['0.0.0.0', 8],
    ['10.0.0.0', 8],
    ['100.64.0.0', 10],
    ['127.0.0.0', 8],
    ['169.254.0.0', 16],
    ['172.16.0.0', 12],
    ['192.168.0.0', 16],
    ['224.0.0.0', 3],
  ]
  for (const [address, prefix] of others) addresses.take(rangeOfNetwork(address, prefix))
  const ipv4 = addresses.take(rangeOfNetwork('0.0.0.0', 0))
  return createAddressSet([...ipv4, rangeOfNetwork('2000::', 3)])
})()

/** Addresses that pass through one term, and through no term before it. */
type Share = { node: SpfNode; term: SpfTerm; via: string | null; ranges: AddressRange[] }

/**
 * Finds out who may send for a domain: the addresses with the result `pass`, through includes and
 * redirects (RFC 7208, 4.6.2, 5.2 and 6.1), as if the domain’s own record had no errors.
 */
export function permittedSenders({ root }: SpfTree): Senders {
  const networks = new Map<string, SenderNetwork>()
  const shares: Share[] = []
  const dependentTerms: string[] = []
  const failedTerms: string[] = []

  /**
   * @param left the addresses that no earlier term matched; those matched here are taken from it
   * @param counts whether a pass of this record is a pass of the domain
   * @returns the addresses that pass
   */
  function evaluate(
    node: SpfNode,
    left: AddressSet,
    via: string | null,
    counts: boolean,
  ): AddressRange[] {
    if (counts && node.problem === 'macro') dependentTerms.push(String(node.via))
    if (counts && (node.error !== null || node.problem === 'untried'))
      failedTerms.push(node.via ?? node.domain)
    const { record } = node
    // An included record with an error permits no one, nor do several: the result is permerror.
    const isBroken = node.problem === 'several' || (record !== null && record.errors.length > 0)
    if (!record || (via !== null && isBroken)) return []
    const terms = effectiveTerms(record)
    const children = new Map(
      terms.filter(leadsToRecord).map((term, index) => [term, node.children[index]]),
    )
    const passed: AddressRange[] = []
    for (const term of redirectLast(terms)) {
      const permits = term.kind === 'modifier' || term.qualifier === '+'
      const child = isChosenBySender(term) ? undefined : children.get(term)
      const matched = child
        ? evaluate(child, left.copy(), via ?? term.text, counts && permits)
        : rangesOf(term, node, counts && permits)
      const taken = matched.flatMap(left.take)
      if (!permits) continue
      passed.push(...taken)
      if (counts && !child) shares.push({ node, term, via, ranges: taken })
    }
    return passed
  }

  function rangesOf(term: SpfTerm, node: SpfNode, counts: boolean): AddressRange[] {
    if (term.name === 'all' || isChosenBySender(term)) return [EVERY_ADDRESS]
    if (term.kind === 'modifier') return []
    const { name, value, cidr4, cidr6 } = term
    const isNetwork = name === 'ip4' || name === 'ip6'
    const addresses = isNetwork ? [value ?? ''] : node.addresses.get(term)
    if (counts && addresses === undefined) dependentTerms.push(term.text)
    if (counts && addresses === null) failedTerms.push(term.text)
    const found = addresses ?? []
    // RFC 7208, 5.7: any address will do, whoever sends.
    if (name === 'exists') return found.length > 0 ? [EVERY_ADDRESS] : []
    return found.map(canonical).map((address) => {
      const family = address.includes(':') ? 6 : 4
      const prefix = (family === 4 ? cidr4 : cidr6) ?? (family === 4 ? 32 : 128)
      const key = `${address}/${prefix}`
      if (counts && !networks.has(key) && networks.size < MAX_NETWORKS)
        networks.set(key, { address, family, prefix, via: `${node.domain} ${term.text}` })
      return rangeOfNetwork(address, prefix)
    })
  }

  evaluate(root, PUBLIC_ADDRESSES.copy(), null, true)
  const passed = shares.flatMap(({ ranges }) => ranges)
  const permitted = createAddressSet(passed)
  const isPermitted = ({ address, prefix }: Pick<SenderNetwork, 'address' | 'prefix'>) =>
    permitted.overlaps(rangeOfNetwork(address, prefix))
  const listed = [...networks.values()].filter(isPermitted)
  return {
    isEmpty: shares.length === 0,
    networks: listed,
    ipv4Count: Number(countAddresses(passed, 4)),
    ipv6Networks: countOutermost(listed.filter(({ family }) => family === 6)),
    open: openTerms(shares),
    dependentTerms,
    failedTerms,
    permits: (address) => isPermitted({ address, prefix: address.includes(':') ? 128 : 32 }),
  }
}

/** RFC 7208, 6.1: `redirect` counts when no mechanism matched, wherever it stands. */
function redirectLast(terms: SpfTerm[]): SpfTerm[] {
  return terms.toSorted((one, other) => Number(isRedirect(one)) - Number(isRedirect(other)))
}

const isRedirect = ({ kind, name }: SpfTerm) => kind === 'modifier' && name === 'redirect'

/**
 * Whether the name of a term ends in what the sending server states or has itself: the name in
 * HELO, its reverse name, the local part. Then its owner decides.
 */
function isChosenBySender({ name, value }: SpfTerm): boolean {
  return (
    ['a', 'mx', 'include', 'exists', 'redirect'].includes(name) &&
    /%\{[hlp]\d*r?[-.+,/_=]*\}\.?$/i.test(value ?? '')
  )
}

/**
 * The terms that permit most, alone or together, until those left permit only what one organisation
 * can have.
 */
function openTerms(shares: Share[]): OpenTerm[] {
  const open = new Set<Share>()
  for (const family of [4, 6] as const) {
    const limit = OPEN_FROM[family]
    const sizes = shares.map((share) => ({ share, size: countAddresses(share.ranges, family) }))
    const total = sizes.reduce((sum, { size }) => sum + size, 0n)
    if (total < limit) continue
    let named = 0n
    for (const { share, size } of sizes.toSorted((one, other) => compare(other.size, one.size))) {
      if (named >= limit && total - named < limit) break
      open.add(share)
      named += size
    }
  }
  return shares
    .filter((share) => open.has(share))
    .map(({ node, term, via }) => ({
      domain: node.domain,
      term: term.text,
      via,
      matchesAll: term.name === 'all' || term.name === 'exists' || isChosenBySender(term),
    }))
}

/** Networks that lie in no other one. */
function countOutermost(networks: SenderNetwork[]): number {
  let [count, end] = [0, -1n]
  const ranges = networks.map(({ address, prefix }) => rangeOfNetwork(address, prefix))
  for (const { last } of ranges.toSorted(byStart)) {
    if (last <= end) continue
    count += 1
    end = last
  }
  return count
}

function byStart(one: AddressRange, other: AddressRange): number {
  return compare(one.first, other.first) || compare(other.last, one.last)
}

function compare(one: bigint, other: bigint): number {
  return one < other ? -1 : Number(one > other)
}
