import { once } from 'node:events'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'

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
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
])

/** Methods whose requests have no Content-Length without a body (RFC 9110, 8.6). */
const BODILESS_METHODS = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS', 'TRACE'])

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
  const send = to.protocol === 'https:' ? requestHttps : requestHttp
  const sent = send({
    host: to.hostname.replace(/^\[|\]$/g, ''),
    port: to.port || undefined,
    method: request.method,
    path: targetOf(to, request.path),
    headers: headersFor(to, request).flat(),
    agent: false,
    signal,
  })
  sent.end(request.body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  // A response without an end is aborted later, when no caller waits for it.
  sent.on('error', () => {})
  response.resume()
  return response.statusCode ?? 0
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

function targetOf(to: URL, path: string): string {
  const target = to.pathname.replace(/\/$/, '') + path
  return target.startsWith('/') ? target : `/${target}`
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
