import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import type { PrivateTargets } from '../../config.ts'
import { Fault, messageOf } from '../../errors.ts'
import { VERSION } from '../../version.ts'
import { parseHost } from '../address.ts'
import type { Resolver } from '../dns.ts'
import { checkTarget, openSocket, type Target } from '../guard.ts'
import { secure } from './get-small.ts'

/** Bytes of an answer's headers; of its body nothing is read. */
const MAX_HEADER_BYTES = 16 * 1024

/**
 * Posts to a URL that a stranger chose: only to allowed addresses, for https only with a
 * certificate that is valid for the host, and without following redirects.
 * @returns the status of the response, whatever it is
 * @throws Fault `target_not_allowed`, `upstream_unreachable`, `upstream_timeout`
 */
export async function post(
  url: URL,
  { headers, body }: { headers: Record<string, string>; body: string },
  deps: { resolver: Resolver; allowPrivate: PrivateTargets },
  signal: AbortSignal,
): Promise<number> {
  const target = await checkTarget(parseHost(url.hostname, 'url'), deps, signal)
  const isSecure = url.protocol === 'https:'
  const socket = await openSocket(target, Number(url.port || (isSecure ? 443 : 80)), signal)
  // Later errors are emitted by the response; without a listener they would end the process.
  socket.on('error', () => {})
  try {
    const connection = isSecure ? await secure(socket, target, signal) : socket
    const sent = request({
      method: 'POST',
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
    return response.statusCode ?? 0
  } catch (error) {
    throw faultOf(error, target, signal)
  } finally {
    socket.destroy()
  }
}

function faultOf(error: unknown, { host }: Target, signal: AbortSignal): Fault {
  if (error instanceof Fault) return error
  if (signal.aborted) return new Fault('upstream_timeout', `${host} did not respond in time.`)
  return new Fault('upstream_unreachable', `The request to ${host} failed: ${messageOf(error)}.`, {
    cause: error,
  })
}
