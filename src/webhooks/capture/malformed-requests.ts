import type { Socket } from 'node:net'
import type { Cidr } from '../../setting-values.ts'
import { clientAddress } from '../../http/client-address.ts'
import type { Logger } from '../../log.ts'
import type { EndpointCache } from '../endpoints/cache.ts'
import type { GroupCommit } from './capture-commits.ts'
import { MAX_MALFORMED_BYTES } from '../limits.ts'
import { redactSessionCookies } from './session-cookies.ts'
import type { CapturedRequest } from '../requests/captured-request.ts'
import type { ParseError } from './surplus.ts'
import { readTarget, type CaptureTarget } from './capture-target.ts'
import { newUuidBytes } from '../../store/uuid.ts'
import type { AbortReason } from './decide-response.ts'

/** Matches the first line of a request that names an endpoint, however malformed the rest is. */
const REQUEST_LINE = /^\s*([!-~]{1,20})[ \t]+([!-~]+)(?:[ \t]+HTTP\/(\d\.\d))?/
const ENDPOINT_PATH = /\/webhooks\/[A-Za-z0-9-]{6,63}(?![A-Za-z0-9-])[!-~]*/

export type MalformedDeps = {
  endpoints: EndpointCache
  commits: GroupCommit<CapturedRequest>
  trustedProxies: Cidr[]
  log: Logger
}

/** Describes why the parser rejected the bytes, with the status that the sender gets. */
export function describeParseError({ code = '', reason, message }: ParseError): AbortReason {
  if (code === 'HPE_HEADER_OVERFLOW')
    return { reason: 'The headers are larger than 16 KiB, or too many.', status: 431 }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return { reason: 'The request did not arrive in time.', status: 408 }
  if (isDisconnect(code))
    return {
      reason: 'The sender closed the connection before the end of the headers.',
      status: 400,
    }
  return { reason: `This is no HTTP request: ${reason ?? message}.`, status: 400 }
}

/** Whether the error means that the sender disconnected, which is no rejection. */
export function isDisconnect(code = ''): boolean {
  return code === 'ECONNRESET' || code === 'HPE_INVALID_EOF_STATE'
}

/**
 * Stores bytes that are not a valid request if their first line names an endpoint, so that its
 * owner sees why nothing else arrived.
 */
export async function storeMalformed(
  error: ParseError,
  socket: Socket,
  deps: MalformedDeps,
): Promise<void> {
  try {
    await storeNamed(error, socket, deps)
  } catch (err) {
    deps.log.warn({ err }, 'a malformed request was not stored')
  }
}

async function storeNamed(error: ParseError, socket: Socket, deps: MalformedDeps): Promise<void> {
  const { rawPacket } = error
  const named = rawPacket && readRequestLine(rawPacket)
  if (!rawPacket || !named) return
  // The address is read now, because the connection is about to be closed.
  const ip = clientAddress(socket, {}, deps.trustedProxies)
  const endpoint = await deps.endpoints.find(named.target.token)
  if (!endpoint) return
  const receivedAt = new Date()
  const { reason, status } = describeParseError(error)
  const text = redactSessionCookies(
    rawPacket.subarray(0, MAX_MALFORMED_BYTES * 4).toString('latin1'),
  )
  await deps.commits.add({
    id: newUuidBytes(),
    endpointId: endpoint.id,
    method: named.method,
    path: named.target.path,
    query: named.target.query,
    headers: [],
    trailers: null,
    ip,
    body: Buffer.from(text, 'latin1').subarray(0, MAX_MALFORMED_BYTES),
    bodySize: rawPacket.length,
    contentType: null,
    receivedAt,
    durationMs: 0,
    httpVersion: named.httpVersion,
    preflight: false,
    aborted: false,
    rejected: reason,
    responseStatus: status,
    surplus: null,
    answeredBy: null,
  })
}

/** Whether the first line of these bytes names an endpoint. */
export function namesEndpoint(bytes: Buffer): boolean {
  return readRequestLine(bytes) !== null
}

function readRequestLine(
  bytes: Buffer,
): { method: string; httpVersion: string; target: CaptureTarget } | null {
  const end = bytes.indexOf('\n')
  const line = bytes.subarray(0, end === -1 ? 16_384 : Math.min(end, 16_384)).toString('latin1')
  const [, method = '', word = '', httpVersion = ''] = REQUEST_LINE.exec(line) ?? []
  const target = readTarget(word) ?? readTarget(ENDPOINT_PATH.exec(line)?.[0] ?? '')
  return target && { method, httpVersion, target }
}
