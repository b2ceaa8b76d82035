import type { IncomingMessage } from 'node:http'
import { configuredAnswer, embeddingAnswer, isPreflight, plainAnswer, preflightAnswer, type Answer } from './answers.ts'
import type { Endpoint } from './endpoints/endpoints.ts'
import { BODY_READ } from './limits.ts'
import type { Received } from './reception.ts'
import type { Header } from './sender.ts'
import type { Target } from './target.ts'
import { fillIn } from './template.ts'

/** Why a request that is being received is cut off, where the parser or the clock did it. */
export type CutOff = { reason: string; status: number }

/** A request that was read for an endpoint. */
export type Taken = { target: Target; endpoint: Endpoint; ip: string; received: Received; cutOff: CutOff | null }

/** What is decided about a request before it is stored. `answer` is null when nobody is there any more to read it. */
export type Verdict = {
  answer: Answer | null
  status: number | null
  rejected: string | null
  preflight: boolean
  /** The answer is the endpoint's own, for which its delay holds. */
  isConfigured: boolean
}

const METHODS = 'GET, POST, PUT, DELETE, PATCH, HEAD, OPTIONS'
const TOO_LARGE = plainAnswer(413, `A body may have at most ${BODY_READ} bytes. What was received of it was kept.`)
const NO_HOST = plainAnswer(400, 'An HTTP/1.1 request needs a Host header.', ['Connection', 'close'])
const TRACE = plainAnswer(405, 'TRACE is not taken here.', ['Allow', METHODS])

/** Decides what a request is answered. */
export function judge(request: IncomingMessage, headers: Header[], taken: Taken): Verdict {
  const { target, endpoint, received, cutOff } = taken
  if (received.end === 'aborted') return cutOffAs(cutOff)
  if (received.end === 'too-large') return refusal(TOO_LARGE, `The body has more than ${BODY_READ} bytes.`)
  if (isWithoutHost(request)) return refusal(NO_HOST, 'An HTTP/1.1 request without a Host header.')
  if (request.method === 'TRACE') return refusal(TRACE, 'The method TRACE is not taken.')
  const preflight = isPreflight(request.method ?? '', headers)
  const special = preflight && endpoint.cors ? preflightAnswer(headers) : embeddingAnswer(request)
  const answer = special ?? answerOf(endpoint, { query: target.query, headers, body: received.body })
  return { answer, status: answer.status, rejected: null, preflight, isConfigured: special === null }
}

function refusal(answer: Answer, rejected: string): Verdict {
  return { answer, status: answer.status, rejected, preflight: false, isConfigured: false }
}

function cutOffAs(cutOff: CutOff | null): Verdict {
  const { status = null, reason: rejected = null } = cutOff ?? {}
  return { answer: null, status, rejected, preflight: false, isConfigured: false }
}

/** RFC 9112, 3.2: such a request is answered 400. */
function isWithoutHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined
}

function answerOf(endpoint: Endpoint, request: { query: string; headers: Header[]; body: Buffer }): Answer {
  const { template, responseType, cors, answer } = endpoint
  if (template === null) return answer
  const filled = fillIn(template.text, responseType, { ...request, secret: template.secret })
  return configuredAnswer({ responseStatus: answer.status, responseType, cors }, filled)
}
