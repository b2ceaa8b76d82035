import type { HostPort, PrivateTargets } from '../setting-values.ts'
import { Fault } from '../errors.ts'
import { parseHost } from './address.ts'
import { createResolver, dataOf, type DnsAnswer, type RecordType, type Resolver } from './dns.ts'
import { checkTarget } from './guard.ts'

/** The answer of one name server of a zone. */
export type NameServerAnswer = {
  /** Host name of the name server. */
  server: string
  /** Null when the server was not asked: see `problem`. */
  answer: DnsAnswer | null
  /** Why there is no usable answer, as a sentence; null when there is one. */
  problem: string | null
}

export type AuthoritativeAnswers = {
  /** The name that was asked at last, behind any CNAMEs. */
  name: string
  /** The zone that contains it; null when no zone was found. */
  zone: string | null
  answers: NameServerAnswer[]
}

export type AuthoritativeDeps = {
  resolver: Resolver
  allowPrivate: PrivateTargets
  /** The port of name servers; another one in tests. */
  port?: number | undefined
}

/** A zone has two to six name servers as a rule; the root has 13. */
const MAX_NAME_SERVERS = 8
const MAX_ADDRESSES_PER_SERVER = 2
/** Names above the asked one that are tried as the zone. */
const MAX_LABELS_ABOVE = 10
/** Resolvers follow 8 to 17. */
const MAX_ALIASES = 17
/** Milliseconds for one try at one address. */
const TRY_TIMEOUT_MS = 1_500

/**
 * Asks the name servers of the zone that contains a name, each directly and without recursion, so
 * that no cache is in between. Follows CNAMEs into other zones. The name servers come from a
 * stranger’s records, so their addresses are checked like any other target.
 * @throws Fault `upstream_unreachable` when the zone could not be looked up, or behind too many
 *   aliases
 */
export async function queryAuthoritative(
  name: string,
  type: RecordType,
  deps: AuthoritativeDeps,
  signal: AbortSignal,
): Promise<AuthoritativeAnswers> {
  const seen = new Set<string>()
  let at = name.toLowerCase().replace(/\.$/, '')
  for (;;) {
    seen.add(at)
    const found = await queryZone(at, type, deps, signal)
    const alias = aliasOf(found.answers)
    if (alias === null || seen.has(alias)) return found
    if (seen.size > MAX_ALIASES)
      throw new Fault(
        'upstream_unreachable',
        `${name} leads through more than ${MAX_ALIASES} aliases, more than resolvers follow.`,
      )
    at = alias
  }
}

/** Where an alias leads. What the servers of the alias say about its target does not count. */
function aliasOf(answers: NameServerAnswer[]): string | null {
  for (const { answer } of answers) {
    if (answer === null || answer.status === 'FAILED') continue
    const target = answer.cnames.at(-1)
    if (target !== undefined) return target
  }
  return null
}

async function queryZone(
  name: string,
  type: RecordType,
  deps: AuthoritativeDeps,
  signal: AbortSignal,
): Promise<AuthoritativeAnswers> {
  const zone = await findZone(name, deps.resolver, signal)
  if (zone === null) return { name, zone: null, answers: [] }
  const servers = zone.servers.slice(0, MAX_NAME_SERVERS)
  const answers = await Promise.all(
    servers.map((server) => askServer(server, { name, type }, deps, signal)),
  )
  return { name, zone: zone.name, answers }
}

/** The closest name above with NS records, itself included. Top-level domains are not tried. */
async function findZone(
  name: string,
  resolver: Resolver,
  signal: AbortSignal,
): Promise<{ name: string; servers: string[] } | null> {
  const labels = name.split('.')
  for (let above = 0; above <= MAX_LABELS_ABOVE && labels.length - above >= 2; above++) {
    const candidate = labels.slice(above).join('.')
    const answer = await resolver.query(candidate, 'NS', signal)
    if (answer.status === 'FAILED') throw zoneUnknown(candidate, answer.failure)
    // Records behind a CNAME are those of another zone.
    const servers = answer.cnames.length > 0 ? [] : dataOf(answer, 'NS')
    if (servers.length > 0) return { name: candidate, servers: servers.toSorted() }
  }
  return null
}

function zoneUnknown(name: string, failure: string): Fault {
  const code =
    failure === 'TIMEOUT' || failure === 'ABORTED' ? 'upstream_timeout' : 'upstream_unreachable'
  return new Fault(code, `The name servers of ${name} could not be looked up (${failure}).`)
}

async function askServer(
  server: string,
  { name, type }: { name: string; type: RecordType },
  { resolver, allowPrivate, port = 53 }: AuthoritativeDeps,
  signal: AbortSignal,
): Promise<NameServerAnswer> {
  const servers = await addressesOf(server, { resolver, allowPrivate, port }, signal)
  if (typeof servers === 'string') return { server, answer: null, problem: servers }
  const direct = createResolver({ servers, timeoutMs: TRY_TIMEOUT_MS, tries: 2 })
  try {
    const answer = await direct.query(name, type, signal, { recursionDesired: false })
    return { server, answer, problem: problemOf(answer) }
  } finally {
    direct.close()
  }
}

/** Checked addresses of a name server, or why it cannot be asked. */
async function addressesOf(
  server: string,
  {
    resolver,
    allowPrivate,
    port,
  }: Required<Pick<AuthoritativeDeps, 'resolver' | 'allowPrivate'>> & {
    port: number
  },
  signal: AbortSignal,
): Promise<HostPort[] | string> {
  try {
    const { addresses } = await checkTarget(
      parseHost(server, 'server'),
      { resolver, allowPrivate },
      signal,
    )
    return addresses.slice(0, MAX_ADDRESSES_PER_SERVER).map((address) => ({ address, port }))
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
}

function problemOf(answer: DnsAnswer): string | null {
  if (answer.status === 'FAILED') return `No answer (${answer.failure}).`
  return answer.isAuthoritative ? null : 'Not responsible for the zone.'
}
