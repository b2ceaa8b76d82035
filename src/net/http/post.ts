import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { PrivateTargets } from '../../setting-values.ts'
import { Fault, messageOf } from '../../errors.ts'
import { VERSION } from '../../version.ts'
import { classify, parseHost } from '../address.ts'
import type { Resolver } from '../dns.ts'
import { checkTarget, openSocket, type Target } from '../guard.ts'
import { Unanswered } from '../handover.ts'
import { secure } from './get-small.ts'

/** Bytes of a response’s headers, and of its body; the rest is not read. */
const MAX_HEADER_BYTES = 16 * 1024
const MAX_BODY_BYTES = 16 * 1024

/** Milliseconds for the body of a response: what the receiver did is in its status. */
const BODY_DEADLINE_MS = 5_000

export type PostResponse = {
  status: number
  /** The header `Retry-After`. */
  retryAfter: string | null
  /** The first 16 KB, as text. */
  body: string
  /** Whether it came from an address that is not public. */
  isPrivate: boolean
}

type PostRequest = {
  method?: 'POST' | 'PUT' | 'PATCH'
  headers: Record<string, string>
  body: string
  /** Called once connected, right before the receiver may accept the request. */
  beforeRequest?: () => Promise<void>
}

type PostDeps = {
  resolver: Resolver
  allowPrivate: PrivateTargets
}

/**
 * Posts to a URL that a stranger chose: only to allowed addresses, for https only with a
 * certificate that is valid for the host, and without following redirects.
 * @returns the response, whatever its status is
 * @throws Fault `target_not_allowed`, `upstream_unreachable`, `upstream_timeout`; with the cause
 *   `Unanswered` where the receiver may have accepted the request
 */
export async function post(
  url: URL,
  sent: PostRequest,
  deps: PostDeps,
  signal: AbortSignal,
): Promise<PostResponse> {
  const target = await checkTarget(parseHost(url.hostname, 'url'), deps, signal)
  const isSecure = url.protocol === 'https:'
  const socket = await openSocket(target, Number(url.port || (isSecure ? 443 : 80)), signal)
  // Later errors are emitted by the response; without a listener they would end the process.
  socket.on('error', () => {})
  let isSent = false
  try {
    const connection = isSecure ? await secure(socket, target, signal) : socket
    await sent.beforeRequest?.()
    isSent = true
    const response = await exchange(url, sent, connection, signal)
    const { statusCode = 0, headers } = response
    return {
      status: statusCode,
      retryAfter: headers['retry-after'] ?? null,
      body: await readBody(response, signal),
      isPrivate: target.addresses.some((address) => !classify(address).public),
    }
  } catch (error) {
    throw faultOf(error, target, signal, isSent)
  } finally {
    socket.destroy()
  }
}

async function exchange(
  url: URL,
  { method = 'POST', headers, body }: PostRequest,
  connection: Awaited<ReturnType<typeof openSocket>>,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const sent = request({
    method,
    path: url.pathname + url.search,
    headers: {
      host: url.host,
      'user-agent': `portreeve/${VERSION}`,
      'content-length': Buffer.byteLength(body),
      connection: 'close',
      ...headers,
    },
    createConnection: () => connection,
    maxHeaderSize: MAX_HEADER_BYTES,
    signal,
  })
  sent.on('error', () => {}).end(body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  return response
}

/** Reads what arrives in time: a body that breaks off does not change the status. */
async function readBody(response: IncomingMessage, signal: AbortSignal): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  const timer = setTimeout(() => response.destroy(), BODY_DEADLINE_MS)
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes >= MAX_BODY_BYTES || signal.aborted) break
    }
  } catch {
    // Truncated.
  } finally {
    clearTimeout(timer)
  }
  return Buffer.concat(chunks).subarray(0, MAX_BODY_BYTES).toString('utf8')
}

function faultOf(error: unknown, { host }: Target, signal: AbortSignal, isSent: boolean): Fault {
  if (error instanceof Fault) return error
  const cause = isSent ? new Unanswered(messageOf(error)) : error
  if (signal.aborted)
    return new Fault('upstream_timeout', `${host} did not respond in time.`, { cause })
  return new Fault('upstream_unreachable', `The request to ${host} failed: ${messageOf(error)}.`, {
    cause,
  })
}
