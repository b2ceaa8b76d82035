import { once } from 'node:events'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { refuseUpgrade } from './refuse-upgrade.ts'

/** A request as it was received: `headers` one byte a character, `path` with its query, raw. */
export type ForwardedRequest = {
  method: string
  path: string
  headers: [string, string][]
  body: Buffer
}

/**
 * Headers of one connection (RFC 9110, 7.6.1), beside those that `Connection` names, and headers that
 * are set for the new one.
 */
const HOP_BY_HOP_HEADERS = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
])

/** Methods whose requests have no Content-Length without a body (RFC 9110, 8.6). */
export const BODILESS_METHODS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

/** The response of a server of the caller: `headers` one byte a character. */
export type ForwardedResponse = { status: number; headers: [string, string][]; body: Buffer }

/**
 * Sends a request to a server of the caller: the same bytes of path, headers and body, in the same
 * order. Only headers of the connection are new, and `Host` is the server’s. Trailers are not sent.
 * @returns the status of the response
 * @throws Error when the server is not reached
 */
export async function forward(
  to: URL,
  request: ForwardedRequest,
  signal: AbortSignal,
): Promise<number> {
  const response = await send(to, request, signal)
  response.resume()
  return response.statusCode ?? 0
}

/**
 * Sends a request likewise, and reads the response.
 * @throws Error also where its body is larger than `maxBytes`
 */
export async function forwardAndRead(
  to: URL,
  request: ForwardedRequest,
  signal: AbortSignal,
  maxBytes: number,
): Promise<ForwardedResponse> {
  const response = await send(to, request, signal)
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    length += chunk.length
    if (length > maxBytes) throw new Error(`the response is larger than ${maxBytes} bytes`)
  }
  const { rawHeaders, statusCode = 0 } = response
  const headers = rawHeaders.flatMap((name, index): [string, string][] =>
    index % 2 === 0 ? [[name, rawHeaders[index + 1] ?? '']] : [],
  )
  return { status: statusCode, headers: endToEndHeaders(headers), body: Buffer.concat(chunks) }
}

async function send(
  to: URL,
  request: ForwardedRequest,
  signal: AbortSignal,
): Promise<IncomingMessage> {
  const start = to.protocol === 'https:' ? requestHttps : requestHttp
  const sent = start({
    host: to.hostname.replace(/^\[|\]$/g, ''),
    port: to.port || undefined,
    method: request.method,
    path: targetOf(to, request.path),
    headers: headersFor(to, request).flat(),
    agent: false,
    signal,
  })
  refuseUpgrade(sent).end(request.body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  // A response without an end is aborted later, when no caller waits for it.
  sent.on('error', () => {})
  return response
}

/** The headers that do not belong to one connection: they are repeated on the next one. */
export function endToEndHeaders(headers: [string, string][]): [string, string][] {
  const named = headers
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.toLowerCase().split(','))
    .map((option) => option.trim())
  const dropped = new Set([...HOP_BY_HOP_HEADERS, ...named])
  return headers.filter(([name]) => !dropped.has(name.toLowerCase()))
}

/** The query of the server’s own URL comes first. */
export function targetOf(to: URL, path: string): string {
  const [below = '', ...query] = path.split('?')
  const base = below === '' ? to.pathname : to.pathname.replace(/\/$/, '') + below
  const search = [to.search.slice(1), query.join('?')].filter(Boolean).join('&')
  return (base.startsWith('/') ? base : `/${base}`) + (search && `?${search}`)
}

function headersFor(to: URL, { method, headers, body }: ForwardedRequest): [string, string][] {
  const own: Record<string, string> = { host: to.host, 'content-length': String(body.length) }
  const said = endToEndHeaders(headers).map(([name, value]): [string, string] => [
    name,
    own[name.toLowerCase()] ?? value,
  ])
  const lacks = (name: string) => !said.some(([other]) => other.toLowerCase() === name)
  const needsLength = body.length > 0 || !BODILESS_METHODS.has(method)
  if (lacks('host')) said.unshift(['Host', to.host])
  if (lacks('content-length') && needsLength) said.push(['Content-Length', String(body.length)])
  return [...said, ['Connection', 'close']]
}
