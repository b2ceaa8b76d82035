import { once } from 'node:events'
import {
  request,
  type ClientRequest,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type RequestOptions,
} from 'node:http'
import type { Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import type { PrivateTargets } from '../../setting-values.ts'
import { Fault, messageOf } from '../../errors.ts'
import { VERSION } from '../../version.ts'
import { parseHost } from '../address.ts'
import type { Resolver } from '../dns.ts'
import { checkTarget, openSocket, type Target } from '../guard.ts'
import { Unanswered } from '../handover.ts'
import { refuseUpgrade } from './refuse-upgrade.ts'
import { connectionName, type ConnectionOptions, type KeptConnections } from './kept-connections.ts'

/** Bytes of a response’s headers. */
const MAX_HEADER_BYTES = 16 * 1024

export type GuardDeps = { resolver: Resolver; allowPrivate: PrivateTargets }

export type GuardedRequest = {
  method?: string
  /** A list is sent as it is, in its order, with nothing added to it. */
  headers?: OutgoingHttpHeaders | [name: string, value: string][]
  /** Sent with its length; without one, nothing is sent after the headers. */
  body?: string | Buffer
  /** The target of the request in place of the URL’s path and query. */
  path?: string
  /** Called with the checked addresses before a connection is opened. @throws to open none */
  accept?: (target: Target) => void
  /** Called at the end of each phase. A connection that was open has neither of the two in between. */
  onPhase?: (phase: Phase) => void
} & (
  | {
      /** Called once connected, right before the receiver may accept the request. */
      beforeRequest?: (() => Promise<void>) | undefined
      kept?: undefined
    }
  | {
      /** Connections that are used again. With `headers` as a list, which leave the connection open. */
      kept?: KeptConnections | undefined
      beforeRequest?: undefined
    }
)

/** What a request has behind it: DNS, TCP, TLS, and the time until the headers of the response. */
export type Phase = 'resolved' | 'connected' | 'secured' | 'answered'

/** The cause of a failure where a connection that was used again turned out to be closed. */
export class StaleConnection extends Unanswered {}

/**
 * Sends one request to a URL that a stranger chose: only to addresses that may be reached, over TLS
 * for https with a certificate that is good for the host, and without following redirects. Every
 * request to such a URL goes through here.
 * @param read reads what it wants of the response; the connection is closed after it
 * @throws Fault `target_not_allowed`, `upstream_unreachable`, `upstream_timeout` when the signal
 *   aborts, with the cause `Unanswered` where the receiver may have accepted the request; what
 *   `read` throws if it is a Fault
 */
export async function guardedRequest<T>(
  url: URL,
  sent: GuardedRequest,
  deps: GuardDeps,
  signal: AbortSignal,
  read: (response: IncomingMessage, target: Target) => Promise<T>,
): Promise<T> {
  const target = await checkTarget(parseHost(url.hostname, 'url'), deps, signal)
  sent.accept?.(target)
  sent.onPhase?.('resolved')
  if (sent.kept) return keptRequest(url, { ...sent, kept: sent.kept }, target, signal, read)
  const isSecure = url.protocol === 'https:'
  const socket = await openSocket(target, portOf(url), signal)
  sent.onPhase?.('connected')
  // Later errors are emitted by the response; without a listener they would end the process.
  socket.on('error', () => {})
  let isSent = false
  try {
    const connection = isSecure ? await secure(socket, target, signal) : socket
    if (isSecure) sent.onPhase?.('secured')
    await sent.beforeRequest?.()
    isSent = true
    const response = await exchange(url, sent, connection, signal)
    sent.onPhase?.('answered')
    return await read(response, target)
  } catch (error) {
    if (error instanceof Fault) throw error
    const cause = isSent ? new Unanswered(messageOf(error)) : error
    throw failure(target, error, cause, signal)
  } finally {
    socket.destroy()
  }
}

const portOf = ({ port, protocol }: URL) => Number(port || (protocol === 'https:' ? 443 : 80))

function failure({ host }: Target, error: unknown, cause: unknown, signal: AbortSignal): Fault {
  return signal.aborted
    ? new Fault('upstream_timeout', `${host} did not respond in time.`, { cause })
    : new Fault('upstream_unreachable', `The request to ${host} failed: ${messageOf(error)}.`, {
        cause,
      })
}

/** Sends a request on a connection that is open, or on one that stays open. */
async function keptRequest<T>(
  url: URL,
  { kept, ...sent }: GuardedRequest & { kept: KeptConnections },
  target: Target,
  signal: AbortSignal,
  read: (response: IncomingMessage, target: Target) => Promise<T>,
): Promise<T> {
  let isSent = false
  async function open(): Promise<Socket> {
    const socket = await openSocket(target, portOf(url), signal)
    socket.on('error', () => {})
    sent.onPhase?.('connected')
    if (url.protocol !== 'https:') return socket
    const secured = await secure(socket, target, signal).catch((error: unknown) => {
      socket.destroy()
      throw error
    })
    sent.onPhase?.('secured')
    return secured
  }
  const started = startRequest(url, sent, signal, {
    agent: kept,
    connection: connectionName(url.origin, target),
    open,
  })
  started.once('socket', () => (isSent = true))
  let hasAnswered = false
  try {
    const [response] = (await once(started, 'response', { signal })) as [IncomingMessage]
    hasAnswered = true
    sent.onPhase?.('answered')
    return await read(response, target)
  } catch (error) {
    started.destroy()
    if (error instanceof Fault) throw error
    const isStale = started.reusedSocket && !hasAnswered && isReset(error)
    const Cause = isStale ? StaleConnection : Unanswered
    throw failure(target, error, isSent ? new Cause(messageOf(error)) : error, signal)
  }
}

/** The peer had closed the connection before the request arrived (nodejs/node#29715). */
function isReset(error: unknown): boolean {
  return ['ECONNRESET', 'EPIPE'].includes((error as NodeJS.ErrnoException).code ?? '')
}

/**
 * Reads a whole body.
 * @throws Fault `upstream_rejected` when it is larger than `maxBytes`
 */
export async function readBody(
  response: IncomingMessage,
  host: string,
  maxBytes: number,
): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > maxBytes)
      throw new Fault(
        'upstream_rejected',
        `The response of ${host} is larger than ${maxBytes} bytes.`,
      )
  }
  return Buffer.concat(chunks)
}

/** TLS on a connection that is open, with a certificate that is good for its host. */
async function secure(socket: Socket, target: Target, signal: AbortSignal): Promise<TLSSocket> {
  const secured = connect({
    socket,
    servername: target.servername,
    host: target.host,
    ALPNProtocols: ['http/1.1'],
  })
  secured.on('error', () => {})
  await once(secured, 'secureConnect', { signal })
  return secured
}

async function exchange(
  url: URL,
  sent: GuardedRequest,
  connection: Socket,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const started = startRequest(url, sent, signal, { createConnection: () => connection })
  const [response] = (await once(started, 'response', { signal })) as [IncomingMessage]
  return response
}

function startRequest(
  url: URL,
  { method = 'GET', headers, body, path = url.pathname + url.search }: GuardedRequest,
  signal: AbortSignal,
  connection: RequestOptions | (RequestOptions & ConnectionOptions),
): ClientRequest {
  const sent = request({
    method,
    path,
    headers: Array.isArray(headers)
      ? headers.flat()
      : {
          'user-agent': `portreeve/${VERSION}`,
          ...headers,
          host: url.host,
          connection: 'close',
          ...(body !== undefined && { 'content-length': Buffer.byteLength(body) }),
        },
    ...connection,
    maxHeaderSize: MAX_HEADER_BYTES,
    signal,
  })
  refuseUpgrade(sent)
    .on('error', () => {})
    .end(body)
  return sent
}
