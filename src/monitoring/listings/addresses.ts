import { canonical, classify, parseHost } from '../../net/address.ts'
import { dataOf, type DnsAnswer, type Resolver } from '../../net/dns.ts'
import { ADDRESS_KEPT, MOST_ADDRESSES } from '../limits.ts'
import type { ClaimedHost } from '../looks/store.ts'

export type FoundAddresses = {
  /** What the host leads to now, and public addresses it led to a short while ago. */
  ips: string[]
  /** Of these the ones it leads to now. */
  current: Set<string>
  /** Why there is nothing to ask about, or not all; as a sentence. */
  problem: string | null
}

/** Looks a host's name up anew. What cannot be looked up is where it was. */
export async function findAddresses(
  { host, addresses }: ClaimedHost,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<FoundAddresses> {
  const parsed = parseHost(host)
  if (parsed.kind === 'ip') return { ips: [parsed.address], current: new Set([parsed.address]), problem: null }
  const answers = await Promise.all([
    resolver.query(parsed.name, 'A', signal),
    resolver.query(parsed.name, 'AAAA', signal),
  ])
  const told = [...dataOf(answers[0], 'A'), ...dataOf(answers[1], 'AAAA')].map(canonical)
  const isPublic = (ip: string) => classify(ip).public
  const current = new Set(told.filter(isPublic).slice(0, MOST_ADDRESSES))
  const kept = addresses.filter(({ lastSeenAt }) => Date.now() - lastSeenAt.getTime() < ADDRESS_KEPT)
  // A name that could not be looked up leads to where it did, however long that is ago.
  const known = (answers.some(isFailed) ? addresses : kept).map(({ ip }) => ip)
  const ips = [...new Set([...current, ...known])].slice(0, MOST_ADDRESSES)
  return { ips, current, problem: problemOf(parsed.unicode, told, answers, current) }
}

function isFailed(answer: DnsAnswer): boolean {
  return answer.status === 'FAILED'
}

function problemOf(name: string, told: string[], answers: DnsAnswer[], current: Set<string>): string | null {
  if (current.size > 0) return null
  const failed = answers.find((answer) => answer.status === 'FAILED')
  if (failed) return `The address of ${name} could not be looked up (${failed.failure}).`
  if (told.length > 0) return `${name} leads to ${told.join(', ')}; blocklists have only public addresses.`
  return answers.every(({ status }) => status === 'NXDOMAIN')
    ? `There is no such host: ${name}.`
    : `${name} has no address.`
}
