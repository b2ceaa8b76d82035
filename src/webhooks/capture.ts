import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Cidr } from '../config.ts'
import { clientAddress } from '../http/client-address.ts'
import type { Logger } from '../log.ts'
import { plainAnswer, send, sendAndClose, type Answer } from './answers.ts'
import type { Delays } from './delays.ts'
import type { EndpointCache } from './endpoints/cache.ts'
import type { Endpoint } from './endpoints/endpoints.ts'
import type { GroupCommit, Outcome } from './group-commit.ts'
import { withoutOwnCookies } from './own-cookies.ts'
import { isHeldBack, isTooLong, receive, type Received, type Room } from './reception.ts'
import { headerOf, pairs, type Header } from './sender.ts'
import type { CapturedRequest, RequestKey } from './store.ts'
import { describeSurplus, findSurplus, type ParseError, type Surplus } from './surplus.ts'
import { readTarget, type Target } from './target.ts'
import { newId } from './token.ts'
import { judge, type CutOff, type Taken } from './verdict.ts'

export type CaptureDeps = {
  endpoints: EndpointCache
  commits: GroupCommit<CapturedRequest>
  delays: Delays
  room: Room
  trustedProxies: Cidr[]
  /** Adds a surplus to a request that was stored without it. */
  saveSurplus: (request: RequestKey, surplus: Surplus) => Promise<void>
  /** Keeps bytes that follow a request and are a malformed one of their own. @returns false when they are none */
  keepMalformed: (error: ParseError, socket: Socket) => boolean
  log: Logger
}

/** A request that is captured, for what happens on its connection meanwhile. */
type Exchange = {
  request: IncomingMessage
  cutOff: CutOff | null
  received: Received | null
  /** Why the parser gave up on what follows the request. */
  errorAfter: ParseError | null
  /** The request as it is stored, and what becomes of that. */
  stored: { key: RequestKey; outcome: Promise<Outcome> } | null
}

/** Late surpluses that are added at once; beyond it they are left out, so that a flood of them costs no more than this. */
const MAX_SAVING = 16

const NOT_FOUND = plainAnswer(404, 'There is no webhook endpoint here.')
const BUSY = plainAnswer(503, 'Too much comes in at this moment: nothing was stored. Send it again.', [
  'Retry-After',
  '1',
])
const AWAY = plainAnswer(503, 'The request was not stored: the database is away. Send it again.', ['Retry-After', '5'])

const NOT_STORED: Record<Exclude<Outcome, 'stored'>, Answer> = { gone: NOT_FOUND, failed: AWAY, full: BUSY }

/**
 * Takes whatever is sent to an endpoint: reads it, stores it, and only then answers.
 * @returns the handler, and how to tell it that its request is cut off, or followed by bytes that are no request (false:
 *   it has no such request)
 */
export function createCapture(deps: CaptureDeps) {
  const exchanges = new WeakMap<ServerResponse, Exchange>()
  let saving = 0

  async function capture(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const exchange: Exchange = { request, cutOff: null, received: null, errorAfter: null, stored: null }
    exchanges.set(response, exchange)
    const taken = await take(exchange, response)
    if (!taken) return send(response, NOT_FOUND)
    try {
      await keep(exchange, response, taken)
    } finally {
      deps.room.leave(taken.received.body.length)
    }
  }

  /** Null when nobody has the endpoint. */
  async function take(exchange: Exchange, response: ServerResponse): Promise<Taken | null> {
    const { request } = exchange
    const target = readTarget(request.url ?? '')
    if (!target) return null
    // Of a connection that is cut off later, nobody knows the address any more.
    const ip = clientAddress(request.socket, request.headers, deps.trustedProxies)
    // Read from the beginning: what is cut off while the endpoint is looked up has sent something already.
    const receiving = receive(request, deps.room)
    const endpoint = await endpointOf(target, receiving)
    if (!endpoint) return null
    if (isHeldBack(request) && !isTooLong(request)) response.writeContinue()
    const received = await receiving
    exchange.received = received
    return { target, endpoint, ip, received, cutOff: exchange.cutOff }
  }

  async function endpointOf({ token }: Target, receiving: Promise<Received>): Promise<Endpoint | null> {
    let endpoint: Endpoint | null = null
    try {
      return (endpoint = deps.endpoints.get(token) ?? (await deps.endpoints.find(token)))
    } finally {
      // Nobody else gives back the room of a body that is for no endpoint.
      if (!endpoint) void receiving.then(({ body }) => deps.room.leave(body.length))
    }
  }

  async function keep(exchange: Exchange, response: ServerResponse, taken: Taken): Promise<void> {
    const { request } = exchange
    const { endpoint, received } = taken
    if (received.end === 'no-room') return sendAndClose(response, BUSY)
    const headers = withoutOwnCookies(pairs(request.rawHeaders))
    const { answer, status, rejected, preflight, isConfigured } = judge(request, headers, taken)
    const row = {
      ...describe(request, headers, taken),
      endpointId: endpoint.id,
      preflight,
      rejected,
      responseStatus: status,
      surplus: exchange.errorAfter && surplusWithin(exchange, exchange.errorAfter, received.lastPiece),
    }
    const storing = deps.commits.add(row)
    exchange.stored = { key: row, outcome: storing }
    const outcome = await storing
    if (answer === null) return
    const reply = outcome === 'stored' ? answer : NOT_STORED[outcome]
    if (received.end !== 'whole') return sendAndClose(response, reply)
    if (reply === answer && isConfigured && endpoint.timeout > 0) return sendLater(response, reply, endpoint)
    send(response, reply)
  }

  function sendLater(response: ServerResponse, answer: Answer, endpoint: Endpoint): void {
    if (deps.delays.wait(endpoint, response, () => send(response, answer))) return
    send(response, { ...answer, headers: [...answer.headers, 'X-Webhook-Delay-Skipped', '1'] })
  }

  function handle(request: IncomingMessage, response: ServerResponse): void {
    // A sender that leaves while it is answered is no error of ours.
    response.on('error', () => {})
    capture(request, response).catch((error: unknown) => {
      deps.log.error({ err: error }, 'a request was not captured')
      if (response.headersSent) response.destroy()
      else send(response, AWAY)
    })
  }

  function cutOff(response: ServerResponse, why: CutOff | null): boolean {
    const exchange = exchanges.get(response)
    if (!exchange || exchange.request.complete) return false
    exchange.cutOff = why
    return true
  }

  /** What follows the request in the packet that has its end. */
  function surplusWithin({ request }: Exchange, error: ParseError, lastPiece: Buffer): Surplus | null {
    const bytes = findSurplus(request, lastPiece, error)
    const { message, code = '', reason = message } = error
    const own = Object.assign(new Error(message), { code, reason, rawPacket: bytes })
    if (deps.keepMalformed(own, request.socket)) return null
    return describeSurplus(bytes, error)
  }

  /** Keeps bytes that are no request with the request that they follow. */
  function followedBy(response: ServerResponse, error: ParseError): boolean {
    const exchange = exchanges.get(response)
    if (!exchange?.request.complete || error.rawPacket === undefined) return false
    const { received, stored } = exchange
    exchange.errorAfter = error
    // Before it is read whole, the packet has the end of the request as well; that is told apart when it is stored.
    if (received === null) return true
    if (deps.keepMalformed(error, exchange.request.socket)) return true
    if (stored) void addLater(stored, describeSurplus(error.rawPacket, error))
    return true
  }

  async function addLater({ key, outcome }: NonNullable<Exchange['stored']>, surplus: Surplus): Promise<void> {
    if (saving >= MAX_SAVING) return
    saving++
    try {
      if ((await outcome) === 'stored') await deps.saveSurplus(key, surplus)
    } catch (error) {
      deps.log.warn({ err: error }, 'the surplus of a captured request was not saved')
    } finally {
      saving--
    }
  }

  return { handle, cutOff, followedBy }
}

function describe(request: IncomingMessage, headers: Header[], { target, ip, received }: Taken) {
  const { end, body, size, durationMs } = received
  const receivedAt = new Date()
  return {
    id: newId(receivedAt.getTime()),
    method: request.method ?? '',
    path: target.path,
    query: target.query,
    headers,
    trailers: request.rawTrailers.length > 0 ? pairs(request.rawTrailers) : null,
    ip,
    body,
    bodySize: size,
    contentType: headerOf(headers, 'content-type') ?? null,
    receivedAt,
    durationMs: Math.round(durationMs * 100) / 100,
    httpVersion: request.httpVersion,
    aborted: end === 'aborted',
  }
}
