import { once } from 'node:events'
import { request as requestHttp, type IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'

/** A request as it was received: `headers` one byte a character, `path` with its query, raw. */
export type ForwardedRequest = { method: string; path: string; headers: [string, string][]; body: Buffer }

/** What belongs to the connection it came on (RFC 9110, 7.6.1), or is said anew on this one. */
const HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'transfer-encoding', 'upgrade', 'expect'])

/**
 * Sends a request to a server of the person who asks for it: the same bytes of path, headers and body, in the same order;
 * only what belongs to the connection is new, and `Host` is the server's.
 * @returns the status it was answered with
 * @throws Error when the server is not reached
 */
export async function forward(to: URL, request: ForwardedRequest, signal: AbortSignal): Promise<number> {
  const send = to.protocol === 'https:' ? requestHttps : requestHttp
  const sent = send({
    host: to.hostname.replace(/^\[|\]$/g, ''),
    port: to.port || undefined,
    method: request.method,
    path: to.pathname.replace(/\/$/, '') + request.path,
    headers: headersFor(to, request).flat(),
    agent: false,
    signal,
  })
  sent.end(request.body)
  const [response] = (await once(sent, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode ?? 0
}

function headersFor(to: URL, { headers, body }: ForwardedRequest): [string, string][] {
  const kept = headers.filter(([name]) => !HOP.has(name.toLowerCase()))
  const named = kept.map(([name, value]): [string, string] =>
    name.toLowerCase() === 'host'
      ? [name, to.host]
      : name.toLowerCase() === 'content-length'
        ? [name, lengthOf(body)]
        : [name, value],
  )
  const has = (name: string) => named.some(([other]) => other.toLowerCase() === name)
  return [
    ...(has('host') ? [] : [['Host', to.host] as [string, string]]),
    ...named,
    ...(has('content-length') || body.length === 0 ? [] : [['Content-Length', lengthOf(body)] as [string, string]]),
    ['Connection', 'close'],
  ]
}

function lengthOf(body: Buffer): string {
  return String(body.length)
}
