import ipaddr from 'ipaddr.js'
import { canonical } from '../net/address.ts'
import { dataOf } from '../net/dns.ts'
import type { DnsQueries } from '../protocols/dns-queries.ts'
import { effectiveTerms, hasMacro, type Mechanism } from '../protocols/spf/spf-record.ts'
import { MX_LIMIT, type SpfNode, type SpfTree } from '../protocols/spf/spf-tree.ts'

/** A network that may send for a domain. */
export type SenderNetwork = {
  /** The first address as published, in canonical form where the term names an address. */
  address: string
  family: 4 | 6
  prefix: number
  /** The record and the term that permit it: `_spf.example.net ip4:192.0.2.0/24`. */
  via: string
}

export type Senders = {
  /** In the order of the terms, each network once. */
  networks: SenderNetwork[]
  /** IPv4 addresses of all networks together. */
  ipv4Count: number
  /** Terms whose addresses depend on the mail (`exists`, `ptr`, macros). */
  dependentTerms: string[]
  /** Terms whose addresses could not be looked up. */
  failedTerms: string[]
}

/** Networks that are collected; a record of 64 KiB has some four thousand. */
const MAX_NETWORKS = 20_000

/** Collects every network that an SPF record permits to send, through includes and redirects. */
export async function collectSenders({ root }: SpfTree, queries: DnsQueries): Promise<Senders> {
  const senders: Senders = { networks: [], ipv4Count: 0, dependentTerms: [], failedTerms: [] }
  const seen = new Set<string>()

  function add(network: SenderNetwork): void {
    const key = `${network.address}/${network.prefix}`
    if (seen.has(key) || seen.size >= MAX_NETWORKS) return
    seen.add(key)
    senders.networks.push(network)
    if (network.family === 4) senders.ipv4Count += 2 ** (32 - network.prefix)
  }

  async function visit(node: SpfNode): Promise<void> {
    if (node.problem === 'macro') senders.dependentTerms.push(String(node.via))
    if (node.error !== null || node.problem === 'untried')
      senders.failedTerms.push(node.via ?? node.domain)
    for (const term of node.record ? effectiveTerms(node.record) : []) {
      if (term.kind === 'modifier' || term.qualifier !== '+') continue
      for (const network of await networksOf(term, node.domain, queries, senders)) add(network)
    }
    for (const child of node.children) if (permits(child)) await visit(child)
  }

  await visit(root)
  return senders
}

/** Whether a match of the included record permits the sender. */
function permits({ via }: SpfNode): boolean {
  return via !== null && /^\+?include:|^redirect=/i.test(via)
}

async function networksOf(
  term: Mechanism,
  domain: string,
  queries: DnsQueries,
  senders: Senders,
): Promise<SenderNetwork[]> {
  const via = `${domain} ${term.text}`
  const { name, value, cidr4, cidr6 } = term
  if (name === 'ip4' && value !== null)
    return [{ address: canonical(value), family: 4, prefix: cidr4 ?? 32, via }]
  if (name === 'ip6' && value !== null)
    return [{ address: canonical(value), family: 6, prefix: cidr6 ?? 128, via }]
  if (name === 'exists' || name === 'ptr' || (value !== null && hasMacro(value))) {
    senders.dependentTerms.push(term.text)
    return []
  }
  if (name !== 'a' && name !== 'mx') return []
  const host = (value ?? domain).toLowerCase().replace(/\.$/, '')
  const found = await addressesOf(
    name === 'mx' ? await exchangesOf(host, queries) : [host],
    queries,
  )
  if (found === null) senders.failedTerms.push(term.text)
  return (found ?? []).map((address) => {
    const family = address.includes(':') ? 6 : 4
    return {
      address,
      family,
      prefix: (family === 4 ? cidr4 : cidr6) ?? (family === 4 ? 32 : 128),
      via,
    }
  })
}

/** Null when the query failed. */
async function exchangesOf(host: string, queries: DnsQueries): Promise<string[] | null> {
  const answer = await queries.query(host, 'MX')
  if (answer.status === 'FAILED') return null
  const exchanges = dataOf(answer, 'MX').map(({ exchange }) => exchange.replace(/\.$/, ''))
  return exchanges.filter((exchange) => exchange !== '').slice(0, MX_LIMIT)
}

async function addressesOf(hosts: string[] | null, queries: DnsQueries): Promise<string[] | null> {
  if (hosts === null) return null
  const answers = await Promise.all(
    hosts.flatMap((host) => [queries.query(host, 'A'), queries.query(host, 'AAAA')]),
  )
  if (answers.some((answer) => answer.status === 'FAILED')) return null
  return answers
    .flatMap((answer) => [...dataOf(answer, 'A'), ...dataOf(answer, 'AAAA')])
    .map(canonical)
}

/** The networks that are one address. */
export function singleAddresses({ networks }: Senders): string[] {
  return networks
    .filter(({ family, prefix }) => prefix === (family === 4 ? 32 : 128))
    .map(({ address }) => address)
}

/** Every address of a network; for small ones only. */
export function addressesOfNetwork({ address, family, prefix }: SenderNetwork): string[] {
  const width = family === 4 ? 32 : 128
  const bytes = ipaddr.parse(address).toByteArray()
  const count = 2 ** (width - prefix)
  // Networks of up to 256 addresses differ in their last byte only.
  const last = bytes.length - 1
  const first = (bytes[last] ?? 0) & ~(count - 1)
  return Array.from({ length: count }, (_, index) =>
    canonical(ipaddr.fromByteArray(bytes.with(last, first + index)).toString()),
  )
}

export function formatNetwork({ address, family, prefix }: SenderNetwork): string {
  return prefix === (family === 4 ? 32 : 128) ? address : `${address}/${prefix}`
}
