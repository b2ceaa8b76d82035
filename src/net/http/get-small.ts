import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import type { PrivateTargets } from '../../setting-values.ts'
import { Fault, messageOf } from '../../errors.ts'
import { VERSION } from '../../version.ts'
import { parseHost } from '../address.ts'
import type { Resolver } from '../dns.ts'
import { checkTarget, openSocket, type Target } from '../guard.ts'

/** Bytes of a body; the files we fetch have a few hundred. */
const MAX_BODY_BYTES = 64 * 1024
const MAX_HEADER_BYTES = 16 * 1024

export type SmallResponse = {
  status: number
  contentType: string | null
  body: Buffer
  /** The `Retry-After` header. */
  retryAfter?: string | null
}

/**
 * Fetches a small file over HTTPS from a host that a stranger named: only from addresses that may
 * be reached, with a certificate that is good for the host, and without following redirects.
 * @throws Fault `target_not_allowed`, `upstream_unreachable`, `upstream_timeout`,
 *   `upstream_rejected` (too big)
 */
export async function getSmall(
  url: URL,
  deps: { resolver: Resolver; allowPrivate: PrivateTargets },
  signal: AbortSignal,
  accept = 'text/plain',
): Promise<SmallResponse> {
  const target = await checkTarget(parseHost(url.hostname, 'url'), deps, signal)
  const socket = await openSocket(target, Number(url.port || 443), signal)
  try {
    const secured = await secure(socket, target, signal)
    return await get(url, secured, { target, accept }, signal)
  } catch (error) {
    throw faultOf(error, target, signal)
  } finally {
    socket.destroy()
  }
}

/** TLS on a connection that is open, with a certificate that is good for its host. */
export async function secure(
  socket: Socket,
  target: Target,
  signal: AbortSignal,
): Promise<TLSSocket> {
  // Later errors are emitted by the response; without listeners they would end the process.
  socket.on('error', () => {})
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

async function get(
  url: URL,
  socket: TLSSocket,
  { target, accept }: { target: Target; accept: string },
  signal: AbortSignal,
): Promise<SmallResponse> {
  const headers = {
    host: url.host,
    'user-agent': `portreeve/${VERSION}`,
    accept,
    connection: 'close',
  }
  const path = url.pathname + url.search
  const sent = request({
    path,
    headers,
    createConnection: () => socket,
    maxHeaderSize: MAX_HEADER_BYTES,
    signal,
  })
  sent.on('error', () => {}).end()
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  const contentType = response.headers['content-type'] ?? null
  const retryAfter = response.headers['retry-after'] ?? null
  const body = await readBody(response, target)
  return { status: response.statusCode ?? 0, contentType, retryAfter, body }
}

async function readBody(response: IncomingMessage, target: Target): Promise<Buffer> {
  const pieces: Buffer[] = []
  let length = 0
  for await (const piece of response as AsyncIterable<Buffer>) {
    pieces.push(piece)
    length += piece.length
    if (length > MAX_BODY_BYTES)
      throw new Fault(
        'upstream_rejected',
        `The response of ${target.host} is larger than ${MAX_BODY_BYTES} bytes.`,
      )
  }
  return Buffer.concat(pieces)
}

function faultOf(error: unknown, { host }: Target, signal: AbortSignal): Fault {
  if (error instanceof Fault) return error
  if (signal.aborted)
    return new Fault('upstream_timeout', `${host} did not respond over HTTPS in time.`)
  return new Fault(
    'upstream_unreachable',
    `The HTTPS request to ${host} failed: ${messageOf(error)}.`,
    {
      cause: error,
    },
  )
}
