import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Cidr } from '../../setting-values.ts'
import { clientAddress } from '../../http/client-address.ts'
import type { Logger } from '../../log.ts'
import type { EndpointCache } from '../endpoints/cache.ts'
import type { Endpoint } from '../endpoints/endpoints.ts'
import { findHeader, pairHeaders, type Header } from '../headers.ts'
import { newUuidBytes } from '../../store/uuid.ts'
import type { CapturedRequest, RequestKey, StoredCapture } from '../requests/captured-request.ts'
import { deliveriesOf } from '../forwarding/prepare-deliveries.ts'
import { repeatKeyOf } from '../requests/repeat-key.ts'
import { readTarget, type CaptureTarget } from './capture-target.ts'
import {
  decideResponse,
  verifies,
  type AbortReason,
  type ReceivedRequest,
  type ResponseDecision,
} from './decide-response.ts'
import type { DelayedResponses } from './delayed-responses.ts'
import {
  createSurplusUpdates,
  findReceivedSurplus,
  startExchange,
  type Exchange,
  type StoreMalformed,
} from './exchange.ts'
import type { GroupCommit, StoreOutcome } from './capture-commits.ts'
import {
  declaresTooLarge,
  expectsContinue,
  readBody,
  type MemoryBudget,
  type ReceivedBody,
} from './read-body.ts'
import {
  configuredResponse,
  responseFor,
  sendResponse,
  sendResponseAndClose,
  textResponse,
  type CaptureResponse,
} from './capture-responses.ts'
import type { HeldRequest, HeldRequests } from '../listeners/held-requests.ts'
import type { AnswerRow } from '../listeners/listeners.sql.ts'
import type { Sequences } from '../rules/sequences.ts'
import { sendFault, withoutDelay } from './send-fault.ts'
import { removeSessionCookies } from './session-cookies.ts'
import { describeSurplus, type ParseError, type Surplus } from './surplus.ts'

export type CaptureDeps = {
  endpoints: EndpointCache
  commits: GroupCommit<StoredCapture>
  delays: DelayedResponses
  /** Requests that wait for the answer of a listener. */
  held: HeldRequests
  markAnswerSent: (endpointId: string, requestId: string, status: number) => Promise<void>
  /** Numbers the requests of endpoints whose rules have sequences. */
  sequences: Sequences
  memory: MemoryBudget
  trustedProxies: Cidr[]
  /** Adds surplus bytes to a request that was stored without them. */
  saveSurplus: (request: RequestKey, surplus: Surplus) => Promise<void>
  storeMalformed: StoreMalformed
  log: Logger
}

const NOT_FOUND = textResponse(404, 'There is no webhook endpoint here.')
const BUSY = textResponse(503, 'Not stored: too many requests at the moment. Please retry.', [
  'Retry-After',
  '1',
])
const DATABASE_UNAVAILABLE = textResponse(
  503,
  'Not stored: the database is unavailable. Please retry.',
  ['Retry-After', '5'],
)

const RESPONSE_IF_NOT_STORED: Record<Exclude<StoreOutcome, 'stored'>, CaptureResponse> = {
  gone: NOT_FOUND,
  failed: DATABASE_UNAVAILABLE,
  full: BUSY,
}

/**
 * Creates the handler of requests to endpoints: it reads a request, stores it, and only then
 * responds.
 * @returns `handle`, and two functions for errors of the parser: `markAborted` when it gave up
 *   within a request, and `recordLaterBytes` for bytes after a request. Both return false when the
 *   error belongs to no request in progress.
 */
export function createCapture(deps: CaptureDeps) {
  const exchanges = new WeakMap<ServerResponse, Exchange>()
  const surplusUpdates = createSurplusUpdates(deps)

  function handle(request: IncomingMessage, response: ServerResponse): void {
    // A sender that disconnects during the response is no error of the service.
    response.on('error', () => {})
    const exchange = startExchange(request)
    exchanges.set(response, exchange)
    capture(deps, exchange, response).catch((error: unknown) => {
      deps.log.error({ err: error }, 'a request was not captured')
      if (response.headersSent) response.destroy()
      else sendResponse(response, DATABASE_UNAVAILABLE)
    })
  }

  function markAborted(response: ServerResponse, reason: AbortReason | null): boolean {
    const exchange = exchanges.get(response)
    if (!exchange || exchange.request.complete) return false
    exchange.abort = reason
    return true
  }

  /**
   * Stores bytes after a request, either as a malformed request or as the surplus of the request
   * they follow.
   */
  function recordLaterBytes(response: ServerResponse, error: ParseError): boolean {
    const exchange = exchanges.get(response)
    if (!exchange?.request.complete || error.rawPacket === undefined) return false
    const { request, isReceived, stored } = exchange
    exchange.laterError = error
    // Until the body is read, the packet still has the end of the request; `findReceivedSurplus`
    // separates them.
    if (!isReceived) return true
    if (deps.storeMalformed(error, request.socket)) return true
    if (stored) void surplusUpdates.save(stored, describeSurplus(error.rawPacket, error))
    return true
  }

  return { handle, markAborted, recordLaterBytes }
}

async function capture(
  deps: CaptureDeps,
  exchange: Exchange,
  response: ServerResponse,
): Promise<void> {
  const received = await receiveRequest(deps, exchange, response)
  if (!received) return sendResponse(response, NOT_FOUND)
  try {
    await storeAndRespond(deps, exchange, response, received)
  } finally {
    deps.memory.release(received.received.body.length)
  }
}

/** Reads the request while its endpoint is looked up. Null when the endpoint does not exist. */
async function receiveRequest(
  deps: CaptureDeps,
  exchange: Exchange,
  response: ServerResponse,
): Promise<ReceivedRequest | null> {
  const { request } = exchange
  const target = readTarget(request.url ?? '')
  if (!target) return null
  // A socket that is closed later has no address any more.
  const ip = clientAddress(request.socket, request.headers, deps.trustedProxies)
  // Reading starts before the lookup, so that an aborted request shows the bytes it sent until
  // then.
  const reading = readBody(request, deps.memory)
  const endpoint = await findEndpoint(deps, target, reading)
  if (!endpoint) return null
  if (expectsContinue(request) && !declaresTooLarge(request)) response.writeContinue()
  const received = await reading
  exchange.isReceived = true
  return { target, endpoint, ip, received, abort: exchange.abort }
}

async function findEndpoint(
  { endpoints, memory }: CaptureDeps,
  { token }: CaptureTarget,
  reading: Promise<ReceivedBody>,
): Promise<Endpoint | null> {
  let endpoint: Endpoint | null = null
  try {
    return (endpoint = await endpoints.find(token))
  } finally {
    // Without an endpoint, the caller does not release the memory of the body.
    if (!endpoint) void reading.then(({ body }) => memory.release(body.length))
  }
}

async function storeAndRespond(
  deps: CaptureDeps,
  exchange: Exchange,
  response: ServerResponse,
  receivedRequest: ReceivedRequest,
): Promise<void> {
  const { request } = exchange
  const { endpoint, received } = receivedRequest
  if (received.end === 'no-memory') return sendResponseAndClose(response, BUSY)
  const headers = removeSessionCookies(pairHeaders(request.rawHeaders))
  const deciding = decideResponse(request, headers, receivedRequest, deps.sequences)
  const decision = deciding instanceof Promise ? await deciding : deciding
  const row = {
    ...describeRequest(request, headers, receivedRequest),
    endpointId: endpoint.id,
    preflight: decision.preflight,
    rejected: decision.rejected,
    responseStatus: decision.status,
    surplus: findReceivedSurplus(exchange, received, deps.storeMalformed),
    answeredBy: decision.answeredBy,
  }
  const holding = canBeHeld(decision) ? deps.held.hold(endpoint, uuidOf(row.id)) : null
  const held = holding instanceof Promise ? await holding : holding
  const storing = deps.commits.add(withDeliveries(row, decision, receivedRequest))
  exchange.stored = { key: { endpointId: row.endpointId, id: row.id }, outcome: storing }
  const outcome = await storing
  if (decision.response === null) return
  const reply = outcome === 'stored' ? decision.response : RESPONSE_IF_NOT_STORED[outcome]
  if (received.end !== 'whole') return sendResponseAndClose(response, reply)
  if (outcome !== 'stored') {
    held?.forget()
    return sendResponse(response, reply)
  }
  if (held) return answerHeld(deps, response, { held, endpoint, request, row, reply })
  const { delayMs, fault } = decision
  const sent = responseFor(reply, request)
  const send = (given: CaptureResponse) =>
    fault === null
      ? sendResponse(response, given)
      : sendFault(fault, response, given, { delays: deps.delays, endpoint })
  if (delayMs > 0) sendDelayed(deps.delays, response, { delayMs, endpoint, reply: sent, send })
  else send(sent)
}

/** Adds what is stored with a request: the key of its repetitions, and its deliveries. */
function withDeliveries(
  row: CapturedRequest,
  { isForwarded }: ResponseDecision,
  { endpoint, received }: ReceivedRequest,
): StoredCapture {
  const { destinations } = endpoint
  if (!isForwarded) return row
  const repeatKey = repeatKeyOf(row, endpoint.repeatKey)
  if (destinations === null) return { ...row, repeatKey }
  const isVerified = () => verifies(endpoint, row.headers, received)
  return {
    ...row,
    repeatKey,
    deliveries: deliveriesOf(destinations, row, endpoint.forwardingMark, isVerified),
  }
}

/** A rule answers at once, and what is rejected or special is for no listener. */
const canBeHeld = ({ isForwarded, answeredBy }: ResponseDecision) =>
  isForwarded && answeredBy === null

function uuidOf(id: Buffer): string {
  return id.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')
}

type HeldSender = {
  held: HeldRequest
  endpoint: Endpoint
  request: IncomingMessage
  row: RequestKey
  /** What the sender gets without an answer. */
  reply: CaptureResponse
}

/** Sends the answer of the listener, or the response of the endpoint when the time is over. */
function answerHeld(
  { delays, markAnswerSent, log }: CaptureDeps,
  response: ServerResponse,
  { held, endpoint, request, row, reply }: HeldSender,
): void {
  let isAnswered = false
  const respond = (given: CaptureResponse) => {
    if (isAnswered || response.destroyed) return false
    isAnswered = true
    held.forget()
    sendResponse(response, responseFor(given, request))
    return true
  }
  const fallback = () =>
    void respond({ ...reply, headers: [...reply.headers, 'X-Webhook-Answer', 'fallback'] })
  response.once('close', () => held.forget())
  held.onAnswer((answer) => {
    if (!respond(responseOfAnswer(answer, endpoint.cors))) return
    markAnswerSent(endpoint.id, uuidOf(row.id), answer.status).catch((error: unknown) =>
      log.warn({ err: error }, 'the answer of a listener was not recorded'),
    )
  })
  const { id, responsibleId } = endpoint
  const waiting = { id, responsibleId, timeout: held.holdSeconds }
  if (!delays.schedule(waiting, response, fallback)) fallback()
}

function responseOfAnswer({ status, headers, body }: AnswerRow, cors: boolean): CaptureResponse {
  const type = findHeader(headers, 'content-type') ?? 'application/octet-stream'
  const own = headers.filter(([name]) => name.toLowerCase() !== 'content-type')
  const settings = { responseStatus: status, responseType: type, cors }
  return configuredResponse(settings, body.toString('latin1'), own)
}

function sendDelayed(
  delays: DelayedResponses,
  response: ServerResponse,
  {
    delayMs,
    endpoint: { id, responsibleId },
    reply,
    send,
  }: {
    delayMs: number
    endpoint: Endpoint
    reply: CaptureResponse
    send: (reply: CaptureResponse) => void
  },
): void {
  const delayed = { id, responsibleId, timeout: delayMs / 1000 }
  if (!delays.schedule(delayed, response, () => send(reply))) send(withoutDelay(reply))
}

function describeRequest(
  request: IncomingMessage,
  headers: Header[],
  { target, ip, received }: ReceivedRequest,
) {
  const { end, body, size, durationMs } = received
  const receivedAt = new Date()
  return {
    id: newUuidBytes(),
    method: request.method ?? '',
    path: target.path,
    query: target.query,
    headers,
    trailers: request.rawTrailers.length > 0 ? pairHeaders(request.rawTrailers) : null,
    ip,
    body,
    bodySize: size,
    contentType: findHeader(headers, 'content-type') ?? null,
    receivedAt,
    durationMs: Math.round(durationMs * 100) / 100,
    httpVersion: request.httpVersion,
    aborted: end === 'aborted',
  }
}
