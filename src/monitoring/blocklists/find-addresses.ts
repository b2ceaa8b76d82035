import { canonical, classify, parseHost } from '../../net/address.ts'
import { dataOf, type DnsAnswer, type Resolver } from '../../net/dns.ts'
import { ADDRESS_RETENTION_MS, MAX_ADDRESSES_PER_NAME } from '../limits.ts'
import type { ClaimedHost } from '../checks/host-checks.sql.ts'

export type FoundAddresses = {
  /** Public addresses of the host now and a short while ago. */
  ips: string[]
  /** The current addresses. */
  current: Set<string>
  /** Why there is no address to check, as a sentence. */
  problem: string | null
}

/** Looks up the addresses of a host. A failed lookup keeps the known ones. */
export async function findHostAddresses(
  { host, addresses }: ClaimedHost,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<FoundAddresses> {
  const parsed = parseHost(host)
  if (parsed.kind === 'ip')
    return { ips: [parsed.address], current: new Set([parsed.address]), problem: null }
  const answers = await Promise.all([
    resolver.query(parsed.name, 'A', signal),
    resolver.query(parsed.name, 'AAAA', signal),
  ])
  const found = [...dataOf(answers[0], 'A'), ...dataOf(answers[1], 'AAAA')].map(canonical)
  const isPublic = (ip: string) => classify(ip).public
  const current = new Set(found.filter(isPublic).slice(0, MAX_ADDRESSES_PER_NAME))
  const kept = addresses.filter(
    ({ lastSeenAt }) => Date.now() - lastSeenAt.getTime() < ADDRESS_RETENTION_MS,
  )
  // A failed lookup keeps every known address, however old.
  const known = (answers.some(isFailed) ? addresses : kept).map(({ ip }) => ip)
  const ips = [...new Set([...current, ...known])].slice(0, MAX_ADDRESSES_PER_NAME)
  return { ips, current, problem: problemOf(parsed.unicode, found, answers, current) }
}

function isFailed(answer: DnsAnswer): boolean {
  return answer.status === 'FAILED'
}

function problemOf(
  name: string,
  found: string[],
  answers: DnsAnswer[],
  current: Set<string>,
): string | null {
  if (current.size > 0) return null
  const failed = answers.find((answer) => answer.status === 'FAILED')
  if (failed) return `The address lookup of ${name} failed (${failed.failure}).`
  if (found.length > 0)
    return `${name} resolves to ${found.join(', ')}; blocklists contain only public addresses.`
  return answers.every(({ status }) => status === 'NXDOMAIN')
    ? `${name} does not exist in the DNS.`
    : `${name} has no address record.`
}
