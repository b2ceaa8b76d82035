import { Fault, messageOf } from '../../errors.ts'
import { queryAuthoritative, type AuthoritativeDeps } from '../../net/dns-authoritative.ts'
import { dataOf, type DnsAnswer } from '../../net/dns.ts'
import { CUTOVER_LIMITS } from './limits.ts'

/** The MX records that one server returned. */
export type MxAnswer = {
  server: string
  /** In lower case, the most preferred first. */
  hosts: string[]
  /** Seconds; null without an answer. */
  ttl: number | null
  /** Why there is no usable answer; null when there is one. */
  problem: string | null
}

/** What DNS says about a domain’s MX records. */
export type MxObservation = {
  zone: string | null
  /** The zone’s own name servers, each asked directly. */
  servers: MxAnswer[]
  /** The resolver’s answer; its TTL is what is left in its cache. */
  resolver: MxAnswer
  problem: string | null
}

/** Looks up the MX records of a domain at all of its name servers and at the resolver. */
export async function observeMx(
  domain: string,
  deps: AuthoritativeDeps,
  signal: AbortSignal,
): Promise<MxObservation> {
  const [found, cached] = await Promise.all([
    queryAuthoritative(domain, 'MX', deps, signal).catch((error: unknown) => {
      if (error instanceof Fault) return messageOf(error)
      throw error
    }),
    deps.resolver.query(domain, 'MX', signal),
  ])
  const resolver = answerOf('resolver', cached)
  if (typeof found === 'string') return { zone: null, servers: [], resolver, problem: found }
  const servers = found.answers
    .slice(0, CUTOVER_LIMITS.maxStoredServers)
    .map(({ server, answer, problem }) => answerOf(server, answer, problem))
  const problem = found.zone === null ? `No name servers of ${domain} were found.` : null
  return { zone: found.zone, servers, resolver, problem }
}

function answerOf(server: string, answer: DnsAnswer | null, told?: string | null): MxAnswer {
  const problem = told ?? (answer?.status === 'FAILED' ? `No answer (${answer.failure}).` : null)
  if (answer === null || problem !== null || answer.status === 'FAILED')
    return { server, hosts: [], ttl: null, problem }
  const hosts = dataOf(answer, 'MX')
    .toSorted((a, b) => (a.preference ?? 0) - (b.preference ?? 0))
    .map(({ exchange }) => exchange.toLowerCase().replace(/\.$/, ''))
  const stored = [...new Set(hosts)].slice(0, CUTOVER_LIMITS.maxStoredHosts)
  return { server, hosts: stored, ttl: answer.ttl, problem: null }
}

/** Whether every name server answered, and all of their answers fit. */
export function everyServer(
  { servers }: Pick<MxObservation, 'servers'>,
  fits: (answer: MxAnswer) => boolean,
): boolean {
  return servers.length > 0 && servers.every((each) => each.problem === null && fits(each))
}

/** Whether an answer has the expected hosts and no others. */
export function hasHosts({ hosts }: Pick<MxAnswer, 'hosts'>, expected: readonly string[]): boolean {
  return new Set(hosts).symmetricDifference(new Set(expected)).size === 0
}
