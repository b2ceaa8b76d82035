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
import type { CapturedRequest } from './store.ts'
import { readTarget, type Target } from './target.ts'
import { newId } from './token.ts'
import { judge, type CutOff, type Taken } from './verdict.ts'

export type CaptureDeps = {
  endpoints: EndpointCache
  commits: GroupCommit<CapturedRequest>
  delays: Delays
  room: Room
  trustedProxies: Cidr[]
  log: Logger
}

const NOT_FOUND = plainAnswer(404, 'There is no webhook endpoint here.')
const BUSY = plainAnswer(503, 'Too much comes in at this moment: nothing was stored. Send it again.', [
  'Retry-After',
  '1',
])
const AWAY = plainAnswer(503, 'The request was not stored: the database is away. Send it again.', ['Retry-After', '5'])

const NOT_STORED: Record<Exclude<Outcome, 'stored'>, Answer> = { gone: NOT_FOUND, failed: AWAY, full: BUSY }

/**
 * Takes whatever is sent to an endpoint: reads it, stores it, and only then answers.
 * @returns the handler, and how to tell it that a connection it is reading from is cut off (false: it reads nothing there)
 */
export function createCapture(deps: CaptureDeps) {
  const reading = new Map<Socket, CutOff | null>()

  async function capture(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const taken = await take(request, response)
    if (!taken) return send(response, NOT_FOUND)
    try {
      await keep(request, response, taken)
    } finally {
      deps.room.leave(taken.received.body.length)
    }
  }

  /** Null when nobody has the endpoint. */
  async function take(request: IncomingMessage, response: ServerResponse): Promise<Taken | null> {
    const { socket } = request
    reading.set(socket, null)
    try {
      const target = readTarget(request.url ?? '')
      if (!target) return null
      // Of a connection that is cut off later, nobody knows the address any more.
      const ip = clientAddress(socket, request.headers, deps.trustedProxies)
      // Read from the beginning: what is cut off while the endpoint is looked up has sent something already.
      const receiving = receive(request, deps.room)
      const endpoint = await endpointOf(target, receiving)
      if (!endpoint) return null
      if (isHeldBack(request) && !isTooLong(request)) response.writeContinue()
      return { target, endpoint, ip, received: await receiving, cutOff: reading.get(socket) ?? null }
    } finally {
      reading.delete(socket)
    }
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

  async function keep(request: IncomingMessage, response: ServerResponse, taken: Taken): Promise<void> {
    const { endpoint, received } = taken
    if (received.end === 'no-room') return sendAndClose(response, BUSY)
    const headers = withoutOwnCookies(pairs(request.rawHeaders))
    const { answer, status, rejected, preflight, isConfigured } = judge(request, headers, taken)
    const outcome = await deps.commits.add({
      ...describe(request, headers, taken),
      endpointId: endpoint.id,
      preflight,
      rejected,
      responseStatus: status,
    })
    if (answer === null) return
    const reply = outcome === 'stored' ? answer : NOT_STORED[outcome]
    if (received.end !== 'whole') return sendAndClose(response, reply)
    if (reply === answer && isConfigured && endpoint.timeout > 0) return sendLater(response, reply, endpoint)
    send(response, reply)
  }

  function sendLater(response: ServerResponse, answer: Answer, endpoint: Endpoint): void {
    if (deps.delays.wait(endpoint, endpoint.timeout, response, () => send(response, answer))) return
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

  function cutOff(socket: Socket, why: CutOff | null): boolean {
    return reading.has(socket) && Boolean(reading.set(socket, why))
  }

  return { handle, cutOff }
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
