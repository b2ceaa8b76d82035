import { connect, type Socket } from 'node:net'
import type { PrivateTargets } from '../setting-values.ts'
import { Fault } from '../errors.ts'
import { onAbort } from './abort.ts'
import { canonical, classify, isAllowed, type Host } from './address.ts'
import { dataOf, type DnsAnswer, type Resolver } from './dns.ts'
import { requireNetwork } from './offline.ts'
// oxlint-disable-next-line import/no-unassigned-import -- it sets what TLS connections offer and accept
import './tls/defaults.ts'

/** Where we may connect: addresses that were checked, never to be looked up again. */
export type Target = {
  /** As the user named it: a name or an address. */
  host: string
  /** For SNI and certificate names; undefined for an address. */
  servername: string | undefined
  /** In the order in which they are tried; at least one. */
  addresses: string[]
}

type GuardDeps = { resolver: Resolver; allowPrivate: PrivateTargets }

/**
 * Resolves a host once and checks every address. One address that is not allowed rejects the whole
 * name, because a later connection may choose any of them.
 * @throws Fault `target_not_allowed`, `upstream_unreachable`, `upstream_timeout`
 */
export async function checkTarget(
  host: Host,
  deps: GuardDeps,
  signal: AbortSignal,
): Promise<Target> {
  const { resolver, allowPrivate } = deps
  if (host.kind === 'ip') {
    refuseAddress(host, allowPrivate)
    return { host: host.address, servername: undefined, addresses: [host.address] }
  }
  const { name } = host
  if (allowPrivate === false && isLocalName(name)) {
    throw new Fault(
      'target_not_allowed',
      `${name} is a local network name. Connections to private targets are not allowed (ALLOW_PRIVATE_TARGETS).`,
    )
  }
  const addresses = isLocalhost(name)
    ? localAddresses(allowPrivate)
    : await lookUp(name, resolver, signal)
  requireAllowed(name, addresses, allowPrivate)
  return { host: name, servername: name, addresses }
}

/**
 * Rejects an address that is never allowed. A name’s addresses are checked at each connection.
 * @throws Fault `target_not_allowed`
 */
export function refuseAddress(host: Host, allowPrivate: PrivateTargets): void {
  if (host.kind === 'ip') requireAllowed(host.address, [host.address], allowPrivate)
}

/** Both loopback addresses are this machine, so either will do. */
function localAddresses(allowPrivate: PrivateTargets): string[] {
  const both = ['127.0.0.1', '::1']
  const allowed = both.filter((address) => isAllowed(address, allowPrivate))
  return allowed.length > 0 ? allowed : both
}

function requireAllowed(host: string, addresses: string[], allowPrivate: PrivateTargets): void {
  const refused = addresses.find((address) => !isAllowed(address, allowPrivate))
  if (refused === undefined) return
  const reach = classify(refused)
  const what = reach.public ? 'not a public address' : reach.why
  const subject =
    refused === host ? `${host} is ${what}` : `${host} has the address ${refused}, ${what}`
  throw new Fault(
    'target_not_allowed',
    `${subject}. Connections to private targets are not allowed (ALLOW_PRIVATE_TARGETS).`,
  )
}

/**
 * RFC 6761, 6762, 7686, 8375, ICANN's .internal, and the names under which clouds hand out
 * credentials.
 */
const LOCAL_SUFFIXES = [
  'localhost',
  'local',
  'internal',
  'home.arpa',
  'onion',
  'metadata',
  'instance-data',
]

function isLocalName(name: string): boolean {
  return LOCAL_SUFFIXES.some((suffix) => name === suffix || name.endsWith(`.${suffix}`))
}

/** RFC 6761, 6.3: loopback by definition, whatever a DNS server answers. */
function isLocalhost(name: string): boolean {
  return name === 'localhost' || name.endsWith('.localhost')
}

async function lookUp(name: string, resolver: Resolver, signal: AbortSignal): Promise<string[]> {
  const answers = await Promise.all([
    resolver.query(name, 'AAAA', signal),
    resolver.query(name, 'A', signal),
  ])
  const [v6, v4] = [
    dataOf(answers[0], 'AAAA').map(canonical),
    dataOf(answers[1], 'A').map(canonical),
  ]
  // RFC 8305, 4: the families take turns.
  const turns = Array.from({ length: Math.max(v6.length, v4.length) }, (_, index) => [
    v6[index],
    v4[index],
  ])
  const addresses = turns.flat().filter((address) => address !== undefined)
  if (addresses.length === 0) throw noAddress(name, answers)
  return [...new Set(addresses)]
}

function noAddress(name: string, answers: DnsAnswer[]): Fault {
  const failed = answers.find((answer) => answer.status === 'FAILED')
  if (failed?.failure === 'TIMEOUT' || failed?.failure === 'ABORTED') {
    return new Fault(
      'upstream_timeout',
      `The address of ${name} could not be looked up in time. Try again later.`,
    )
  }
  if (failed) {
    return new Fault(
      'upstream_unreachable',
      `The address of ${name} could not be looked up: ${failed.failure}.`,
    )
  }
  const exists = answers.some((answer) => answer.status === 'NOERROR')
  return new Fault(
    'upstream_unreachable',
    exists ? `${name} has no address.` : `Host not found: ${name}.`,
  )
}

/**
 * For libraries that connect by themselves: a checked address in place of the name, and the name
 * for TLS.
 */
export function pin(target: Target): { host: string; servername: string | undefined } {
  return { host: target.addresses[0] as string, servername: target.servername }
}

/**
 * Milliseconds after which the next address is tried beside one that has not answered yet (RFC
 * 8305, 5).
 */
const NEXT_ATTEMPT_MS = 250
const MAX_ATTEMPTS = 8

/**
 * Connects to the first of the checked addresses that answers.
 * @throws Fault `upstream_unreachable`, `upstream_timeout`, `demo`
 */
export async function openSocket(
  target: Target,
  port: number,
  signal: AbortSignal,
): Promise<Socket> {
  requireNetwork()
  const { promise, resolve, reject } = Promise.withResolvers<Socket>()
  const waiting = target.addresses.slice(0, MAX_ATTEMPTS)
  const open = new Set<Socket>()
  const errors: NodeJS.ErrnoException[] = []
  let timer: NodeJS.Timeout | undefined

  function tryNext(): void {
    clearTimeout(timer)
    const address = waiting.shift()
    if (address === undefined) return
    const socket = connect({ host: address, port, autoSelectFamily: false })
    const onError = (error: Error) => failed(socket, error)
    socket.once('error', onError)
    socket.once('connect', () => {
      socket.off('error', onError)
      open.delete(socket)
      resolve(socket)
    })
    open.add(socket)
    timer = setTimeout(tryNext, NEXT_ATTEMPT_MS)
  }

  function failed(socket: Socket, error: Error): void {
    open.delete(socket)
    errors.push(error)
    if (waiting.length > 0) tryNext()
    else if (open.size === 0) reject(unreachable(target, port, errors))
  }

  const tooLate = () =>
    reject(
      new Fault('upstream_timeout', `Port ${port} of ${target.host} did not answer in time.`, {
        cause: { code: 'ETIMEDOUT' },
      }),
    )
  const leave = onAbort([signal], tooLate)
  if (signal.aborted) tooLate()
  else tryNext()
  try {
    return requireChecked(await promise, target)
  } finally {
    leave()
    clearTimeout(timer)
    for (const socket of open) socket.destroy()
  }
}

/** The connected address must be the checked one, whatever is in between. */
function requireChecked(socket: Socket, target: Target): Socket {
  const address = canonical(socket.remoteAddress ?? '')
  if (target.addresses.includes(address)) return socket
  socket.destroy()
  if (address === '')
    throw new Fault('upstream_unreachable', `${target.host} closed the connection at once.`)
  throw new Fault(
    'target_not_allowed',
    `The connection to ${target.host} ended at ${address}, which is not one of its addresses.`,
  )
}

function unreachable(target: Target, port: number, errors: NodeJS.ErrnoException[]): Fault {
  const cause = errors.find((error) => error.code === 'ECONNREFUSED') ?? errors[0]
  const what =
    cause?.code === 'ECONNREFUSED' ? 'refused the connection' : `cannot be reached (${cause?.code})`
  const code = cause?.code === 'ETIMEDOUT' ? 'upstream_timeout' : 'upstream_unreachable'
  return new Fault(code, `Port ${port} of ${target.host} ${what}.`, { cause })
}
