import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '../endpoints/endpoints.ts'
import type { Header } from '../headers.ts'
import { MAX_READ_BODY_BYTES } from '../limits.ts'
import type { CaptureTarget } from './capture-target.ts'
import type { ReceivedBody } from './read-body.ts'
import {
  configuredResponse,
  embeddingResponse,
  isPreflight,
  preflightResponse,
  textResponse,
  type CaptureResponse,
} from './responses.ts'
import { fillTemplate } from './template.ts'

/** Why the parser or a timeout aborted a request, and the status that its sender gets. */
export type AbortReason = { reason: string; status: number }

/** A request to an endpoint whose body has been read. */
export type ReceivedRequest = {
  target: CaptureTarget
  endpoint: Endpoint
  ip: string
  received: ReceivedBody
  abort: AbortReason | null
}

/**
 * The decision on a request, made before the request is stored. `response` is null when the sender
 * has disconnected.
 */
export type ResponseDecision = {
  response: CaptureResponse | null
  status: number | null
  rejected: string | null
  preflight: boolean
  /** Whether the response is the endpoint’s own, which its delay applies to. */
  isConfigured: boolean
}

const METHODS = 'GET, POST, PUT, DELETE, PATCH, HEAD, OPTIONS'
const TOO_LARGE = textResponse(
  413,
  `A body may have at most ${MAX_READ_BODY_BYTES} bytes. The first part was stored.`,
)
const WRONG_HOST = textResponse(400, 'A request needs one Host header with a host.', [
  'Connection',
  'close',
])
/** RFC 9110, 7.2: a host as a URI has it, or nothing, with a port or without. */
const HOST = /^(?:\[[\da-fv.:]+\]|(?:[\w\-.~!$&'()*+,;=]|%[\da-f]{2})*)(?::\d*)?$/i
const TRACE = textResponse(405, 'The method TRACE is not allowed.', ['Allow', METHODS])

/** Decides how a request is answered. */
export function decideResponse(
  request: IncomingMessage,
  headers: Header[],
  { target, endpoint, received, abort }: ReceivedRequest,
): ResponseDecision {
  if (received.end === 'aborted') return abortedDecision(abort)
  if (received.end === 'too-large')
    return rejection(TOO_LARGE, `The body has more than ${MAX_READ_BODY_BYTES} bytes.`)
  const wrong = hostProblem(request, headers)
  if (wrong !== null) return rejection(WRONG_HOST, wrong)
  if (request.method === 'TRACE') return rejection(TRACE, 'The method TRACE is not allowed.')
  const preflight = isPreflight(request.method ?? '', headers)
  const special =
    preflight && endpoint.cors ? preflightResponse(headers) : embeddingResponse(request)
  const response =
    special ?? endpointResponse(endpoint, { query: target.query, headers, body: received.body })
  return {
    response,
    status: response.status,
    rejected: null,
    preflight,
    isConfigured: special === null,
  }
}

function rejection(response: CaptureResponse, rejected: string): ResponseDecision {
  return { response, status: response.status, rejected, preflight: false, isConfigured: false }
}

function abortedDecision(abort: AbortReason | null): ResponseDecision {
  const { status = null, reason: rejected = null } = abort ?? {}
  return { response: null, status, rejected, preflight: false, isConfigured: false }
}

/**
 * Why a request must get 400 (RFC 9112, 3.2): an HTTP/1.1 request without a Host header, or any with
 * more than one, or with one that is no host.
 */
function hostProblem({ httpVersion }: IncomingMessage, headers: Header[]): string | null {
  const hosts = headers.filter(([name]) => name.toLowerCase() === 'host')
  if (hosts.length > 1) return 'A request with more than one Host header.'
  if (hosts.length === 0)
    return httpVersion === '1.1' ? 'An HTTP/1.1 request without a Host header.' : null
  return HOST.test(hosts[0]?.[1] ?? '') ? null : 'The Host header is not a host.'
}

function endpointResponse(
  { template, responseType, cors, response }: Endpoint,
  request: { query: string; headers: Header[]; body: Buffer },
): CaptureResponse {
  if (template === null) return response
  const body = fillTemplate(template.text, responseType, { ...request, secret: template.secret })
  return configuredResponse({ responseStatus: response.status, responseType, cors }, body)
}
