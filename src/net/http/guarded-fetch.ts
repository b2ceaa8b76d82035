import { once } from 'node:events'
import { request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { PrivateTargets } from '../../setting-values.ts'
import { Fault, messageOf } from '../../errors.ts'
import { VERSION } from '../../version.ts'
import { parseHost } from '../address.ts'
import type { Resolver } from '../dns.ts'
import { checkTarget, openSocket } from '../guard.ts'
import { secure } from './get-small.ts'

const MAX_HEADER_BYTES = 16 * 1024
/** Bytes of a response, by default. Metadata and keys of a provider have a tenth of that. */
const DEFAULT_MAX_BYTES = 256 * 1024

/** The part of `fetch` that libraries use which accept one of ours. */
export type GuardedFetch = (url: string, init: FetchInit) => Promise<Response>

type FetchInit = {
  method?: string
  headers?: Record<string, string>
  body?: unknown
  signal?: AbortSignal | undefined
}

type GuardDeps = { resolver: Resolver; allowPrivate: PrivateTargets }

/**
 * Creates a `fetch` that connects only to allowed addresses, with a certificate that is valid for
 * the host, and follows no redirects.
 * @param timeoutMs bounds every request
 * @param maxBytes bounds the body of every response
 */
export function createGuardedFetch(
  deps: GuardDeps,
  timeoutMs: number,
  maxBytes = DEFAULT_MAX_BYTES,
): GuardedFetch {
  return async (address, init) => {
    const url = new URL(address)
    const limit = AbortSignal.timeout(timeoutMs)
    const signal = init.signal ? AbortSignal.any([limit, init.signal]) : limit
    const target = await checkTarget(parseHost(url.hostname, 'url'), deps, signal)
    const isSecure = url.protocol === 'https:'
    const socket = await openSocket(target, Number(url.port || (isSecure ? 443 : 80)), signal)
    // Later errors are emitted by the response; without a listener they would end the process.
    socket.on('error', () => {})
    try {
      const connection = isSecure ? await secure(socket, target, signal) : socket
      return await exchange(url, init, connection, { signal, maxBytes })
    } catch (cause) {
      if (cause instanceof Fault) throw cause
      const [code, what] = signal.aborted
        ? (['upstream_timeout', 'did not respond in time'] as const)
        : (['upstream_unreachable', `could not be reached: ${messageOf(cause)}`] as const)
      throw new Fault(code, `${target.host} ${what}.`, { cause })
    } finally {
      socket.destroy()
    }
  }
}

async function exchange(
  url: URL,
  { method = 'GET', headers = {}, body }: FetchInit,
  connection: Awaited<ReturnType<typeof openSocket>>,
  { signal, maxBytes }: { signal: AbortSignal; maxBytes: number },
): Promise<Response> {
  const text = body instanceof URLSearchParams || typeof body === 'string' ? String(body) : ''
  const sent = request({
    method,
    path: url.pathname + url.search,
    headers: {
      ...headers,
      host: url.host,
      'user-agent': `portreeve/${VERSION}`,
      connection: 'close',
      ...(method !== 'GET' && { 'content-length': Buffer.byteLength(text) }),
    },
    createConnection: () => connection,
    maxHeaderSize: MAX_HEADER_BYTES,
    signal,
  })
  sent.on('error', () => {}).end(text)
  const [response] = (await once(sent, 'response', { signal })) as [IncomingMessage]
  const bytes = await readBody(response, url.hostname, maxBytes)
  const status = response.statusCode ?? 0
  // A response of these states must not have a body (Fetch standard, “null body status”).
  const isEmpty = status === 204 || status === 205 || status === 304
  return new Response(isEmpty ? null : bytes, { status, headers: headersOf(response.headers) })
}

async function readBody(
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

function headersOf(received: IncomingHttpHeaders): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(received))
    for (const each of [value ?? []].flat()) headers.append(name, each)
  return headers
}
