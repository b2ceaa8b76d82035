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
} from './capture-responses.ts'
import { checkSignature } from '../../protocols/webhook-signature.ts'
import { applyRules, type PreparedRules } from '../rules/prepare-rules.ts'
import type { AnsweredBy, ResponseFault } from '../rules/shapes.ts'
import type { Sequences } from '../rules/sequences.ts'
import { fillTemplate } from './response-template.ts'

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
  /** Milliseconds before the response. */
  delayMs: number
  /** What is sent in place of a regular response; null for nothing else. */
  fault: ResponseFault | null
  /** The rule that answers; null for the response of the endpoint. */
  answeredBy: AnsweredBy | null
  /** Whether it is a request of a sender, which destinations get, too. */
  isForwarded: boolean
}

const AT_ONCE = { delayMs: 0, fault: null, answeredBy: null, isForwarded: false }

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

/**
 * Decides how a request is answered. Without a promise where the endpoint has no rules.
 * @throws when the database cannot count a sequence: then the request must not be stored
 */
export function decideResponse(
  request: IncomingMessage,
  headers: Header[],
  received: ReceivedRequest,
  sequences: Sequences,
): ResponseDecision | Promise<ResponseDecision> {
  const fixed = decideFixed(request, headers, received)
  if (fixed) return fixed
  const { rules } = received.endpoint
  const preflight = isPreflight(request.method ?? '', headers)
  if (rules === null || preflight) return decideDefault(headers, received, preflight)
  return decideByRules(rules, request, headers, received, sequences)
}

/** The response to requests for which no setting counts; null for all others. */
function decideFixed(
  request: IncomingMessage,
  headers: Header[],
  { endpoint, received, abort }: ReceivedRequest,
): ResponseDecision | null {
  if (received.end === 'aborted') return abortedDecision(abort)
  if (received.end === 'too-large')
    return rejection(TOO_LARGE, `The body has more than ${MAX_READ_BODY_BYTES} bytes.`)
  const wrong = hostProblem(request, headers)
  if (wrong !== null) return rejection(WRONG_HOST, wrong)
  if (request.method === 'TRACE') return rejection(TRACE, 'The method TRACE is not allowed.')
  const preflight = isPreflight(request.method ?? '', headers)
  const response =
    preflight && endpoint.cors ? preflightResponse(headers) : embeddingResponse(request)
  return response && { response, status: response.status, rejected: null, preflight, ...AT_ONCE }
}

/** The response of the endpoint itself. A preflight gets it where cross-origin requests are off. */
function decideDefault(
  headers: Header[],
  { target, endpoint, received }: ReceivedRequest,
  isPreflightRequest = false,
): ResponseDecision {
  const request = { query: target.query, headers, body: received.body }
  const response = endpointResponse(endpoint, request)
  return {
    response,
    status: response.status,
    rejected: null,
    preflight: isPreflightRequest,
    ...AT_ONCE,
    delayMs: endpoint.timeout * 1000,
    isForwarded: !isPreflightRequest,
  }
}

async function decideByRules(
  rules: PreparedRules,
  request: IncomingMessage,
  headers: Header[],
  receivedRequest: ReceivedRequest,
  sequences: Sequences,
): Promise<ResponseDecision> {
  const { target, endpoint, ip, received } = receivedRequest
  const { path, query } = target
  const readable = { method: request.method ?? '', path, query, headers, body: received.body, ip }
  const isVerified = () => verifies(endpoint, headers, received)
  const decided = await applyRules(rules, readable, { sequences, isVerified })
  if (decided === null) return decideDefault(headers, receivedRequest)
  const { fault } = decided
  const isSilent = fault === 'close' || fault === 'reset' || fault === 'hang'
  return {
    ...decided,
    isForwarded: true,
    status: isSilent ? null : decided.response.status,
    rejected: null,
    preflight: false,
  }
}

/** Whether the sender’s signature is valid. A body that is not stored whole cannot be verified. */
export function verifies(
  { verification }: Endpoint,
  headers: Header[],
  { body, size }: ReceivedBody,
): boolean {
  if (verification === null) return false
  const truncated = size > body.length
  const signed = { headers, body, truncated, receivedAt: new Date() }
  return checkSignature(verification.scheme, verification.secret, signed).status === 'valid'
}

function rejection(response: CaptureResponse, rejected: string): ResponseDecision {
  return { response, status: response.status, rejected, preflight: false, ...AT_ONCE }
}

function abortedDecision(abort: AbortReason | null): ResponseDecision {
  const { status = null, reason: rejected = null } = abort ?? {}
  return { response: null, status, rejected, preflight: false, ...AT_ONCE }
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
  { template, responseType, cors, response, responseHeaders }: Endpoint,
  request: { query: string; headers: Header[]; body: Buffer },
): CaptureResponse {
  if (template === null) return response
  const body = fillTemplate(template.text, responseType, { ...request, secret: template.secret })
  const settings = { responseStatus: response.status, responseType, cors }
  return configuredResponse(settings, body, responseHeaders)
}
