import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Cidr } from '../config.ts'
import type { Logger } from '../log.ts'
import {
  embeddingAnswer,
  isPreflight,
  plainAnswer,
  preflightAnswer,
  send,
  sendAndClose,
  configuredAnswer,
  type Answer,
} from './answers.ts'
import type { Delays } from './delays.ts'
import type { EndpointCache } from './endpoint-cache.ts'
import type { Endpoint } from './endpoints.ts'
import type { GroupCommit, Outcome } from './group-commit.ts'
import { BODY_READ } from './limits.ts'
import { withoutOwnCookies } from './own-cookies.ts'
import { isTooLong, receive, type Received, type Room } from './reception.ts'
import { headerOf, pairs, senderAddress, type Header } from './sender.ts'
import type { CapturedRequest } from './store.ts'
import { readTarget, type Target } from './target.ts'
import { fillIn } from './template.ts'
import { newId } from './token.ts'

export type CaptureDeps = {
  endpoints: EndpointCache
  commits: GroupCommit<CapturedRequest>
  delays: Delays
  room: Room
  trustedProxies: Cidr[]
  log: Logger
}

/** Why a request that is being received is cut off, where the parser or the clock did it. */
export type CutOff = { reason: string; status: number }

type Taken = { target: Target; endpoint: Endpoint; received: Received; cutOff: CutOff | null }

/** What is decided about a request before it is stored. */
type Verdict = { answer: Answer | null; rejected: string | null; preflight: boolean; status: number | null }

const NOT_FOUND = plainAnswer(404, 'There is no webhook endpoint here.')
const BUSY = plainAnswer(503, 'Too much comes in at this moment: nothing was stored. Send it again.', [
  'Retry-After',
  '1',
])
const AWAY = plainAnswer(503, 'The request was not stored: the database is away. Send it again.', ['Retry-After', '5'])
const TOO_LARGE = plainAnswer(413, `A body may have at most ${BODY_READ} bytes. The first of them were kept.`)
const NO_HOST = plainAnswer(400, 'An HTTP/1.1 request needs a Host header.', ['Connection', 'close'])
const TRACE = plainAnswer(405, 'TRACE is not taken here.', ['Allow', 'GET, POST, PUT, DELETE, PATCH, HEAD, OPTIONS'])

const NOT_STORED: Record<Exclude<Outcome, 'stored'>, Answer> = { gone: NOT_FOUND, failed: AWAY, full: BUSY }

/**
 * Takes whatever is sent to an endpoint: reads it, stores it, and only then answers.
 * @returns the handler, and how to tell it that a connection it is reading from is cut off (false: it reads nothing there)
 */
export function createCapture(deps: CaptureDeps) {
  const reading = new WeakMap<Socket, CutOff | null>()

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
      const endpoint = target && (deps.endpoints.get(target.token) ?? (await deps.endpoints.find(target.token)))
      if (!target || !endpoint) return null
      if (/100-continue/i.test(request.headers.expect ?? '') && !isTooLong(request)) response.writeContinue()
      const received = await receive(request, deps.room)
      return { target, endpoint, received, cutOff: reading.get(socket) ?? null }
    } finally {
      reading.delete(socket)
    }
  }

  async function keep(request: IncomingMessage, response: ServerResponse, taken: Taken): Promise<void> {
    const { target, endpoint, received } = taken
    if (received.end === 'no-room') return sendAndClose(response, BUSY)
    const headers = withoutOwnCookies(pairs(request.rawHeaders))
    const { answer, status, ...judged } = judge(request, headers, taken)
    const outcome = await deps.commits.add({
      ...describe(request, headers, target, received, deps.trustedProxies),
      ...judged,
      endpointId: endpoint.id,
      responseStatus: status,
    })
    if (answer === null) return
    const reply = outcome === 'stored' ? answer : NOT_STORED[outcome]
    if (received.end !== 'whole') return sendAndClose(response, reply)
    const isConfigured = outcome === 'stored' && judged.rejected === null && !judged.preflight
    if (isConfigured && endpoint.timeout > 0) return sendLater(response, reply, endpoint)
    send(response, reply)
  }

  function sendLater(response: ServerResponse, answer: Answer, { id, timeout }: Endpoint): void {
    if (deps.delays.wait(id, timeout, response, () => send(response, answer))) return
    send(response, { ...answer, headers: [...answer.headers, 'X-Webhook-Delay-Skipped', '1'] })
  }

  return {
    handle(request: IncomingMessage, response: ServerResponse): void {
      // A sender that leaves while it is answered is no error of ours.
      response.on('error', () => {})
      capture(request, response).catch((error: unknown) => {
        deps.log.error({ err: error }, 'a request was not captured')
        if (response.headersSent) response.destroy()
        else send(response, AWAY)
      })
    },
    cutOff(socket: Socket, why: CutOff | null): boolean {
      return reading.has(socket) && Boolean(reading.set(socket, why))
    },
  }
}

function judge(
  request: IncomingMessage,
  headers: Header[],
  { target, endpoint, received: { end, body }, cutOff }: Taken,
): Verdict {
  const refuse = (answer: Answer, rejected: string) => ({ answer, rejected, preflight: false, status: answer.status })
  if (end === 'aborted') return { answer: null, ...refusedBy(cutOff), preflight: false }
  if (end === 'too-large') return refuse(TOO_LARGE, `The body has more than ${BODY_READ} bytes.`)
  if (isWithoutHost(request)) return refuse(NO_HOST, 'An HTTP/1.1 request without a Host header.')
  if (request.method === 'TRACE') return refuse(TRACE, 'The method TRACE is not taken.')
  const preflight = isPreflight(request.method ?? '', headers)
  const answer =
    preflight && endpoint.cors
      ? preflightAnswer(headers)
      : (embeddingAnswer(request) ?? answerOf(endpoint, { query: target.query, headers, body }))
  return { answer, rejected: null, preflight, status: answer.status }
}

function refusedBy(cutOff: CutOff | null) {
  return { rejected: cutOff?.reason ?? null, status: cutOff?.status ?? null }
}

/** RFC 9112, 3.2: such a request is answered 400. */
function isWithoutHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined
}

function answerOf(endpoint: Endpoint, request: { query: string; headers: Header[]; body: Buffer }): Answer {
  const { template, responseType, cors, answer } = endpoint
  if (template === null) return answer
  const filled = Buffer.from(fillIn(template.text, responseType, { ...request, secret: template.secret }))
  return configuredAnswer({ responseStatus: answer.status, responseType, cors }, filled)
}

function describe(
  request: IncomingMessage,
  headers: Header[],
  { path, query }: Target,
  { end, body, size, durationMs }: Received,
  trustedProxies: Cidr[],
) {
  const receivedAt = new Date()
  return {
    id: newId(receivedAt.getTime()),
    method: request.method ?? '',
    path,
    query,
    headers,
    trailers: request.rawTrailers.length > 0 ? pairs(request.rawTrailers) : null,
    ip: senderAddress(request.socket, joined(request.headers['x-forwarded-for']), trustedProxies),
    body,
    bodySize: size,
    contentType: headerOf(headers, 'content-type') ?? null,
    receivedAt,
    durationMs: Math.round(durationMs * 100) / 100,
    httpVersion: request.httpVersion,
    aborted: end === 'aborted',
  }
}

function joined(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value.join(',') : value
}
