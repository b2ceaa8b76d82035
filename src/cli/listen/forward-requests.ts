import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, messageOf } from '../../errors.ts'
import { askService, followEvents, type ServerEvent } from '../../net/http/event-stream.ts'
import {
  forward,
  forwardAndRead,
  type ForwardedRequest,
  type ForwardedResponse,
} from '../../net/http/forward.ts'
import { PRIVATE_ISSUER_CODES, UNVERIFIED } from '../../net/tls/failure-codes.ts'
import { emailAsHttp } from '../../webhooks/email/email-as-http.ts'
import { isName, isToken } from '../../webhooks/endpoints/endpoint-name.ts'
import type { presentRequest } from '../../webhooks/present-request.ts'
import { UsageError } from '../command.ts'
import { apiTokenFrom, serverFrom, serviceUrl, urlOf } from '../service-access.ts'
import { sanitizeForTerminal, paint } from '../terminal-text.ts'
import { DEFAULT_HOLD_SECONDS, MAX_ANSWER_BYTES, MAX_HOLD_SECONDS } from '../../webhooks/limits.ts'
import { startAnswering, type Answering } from './answering.ts'
import type { ListenFlags } from './listen-flags.ts'

/** Delays before reconnecting: the first, and the longest. */
const BACKOFF_MS = { first: 500, max: 15_000 }

/** Time limit for the response of the local server. */
const RESPONSE_TIMEOUT_MS = 30_000

type Captured = ReturnType<typeof presentRequest>
type Listening = {
  events: URL
  to: URL
  apiToken: string
  json: boolean
  /** Null where the senders have the response of the endpoint already. */
  answering: Answering | null
}

/** Requests that are answered at once: their senders do not wait for one another. */
const MAX_ANSWERED = 10

/**
 * Forwards the captured requests of a webhook endpoint until SIGINT, SIGTERM or SIGHUP.
 * @returns the exit code: 0 when stopped, 1 when the endpoint was deleted
 */
export async function forwardRequests(
  token: string,
  flags: ListenFlags,
  json: boolean,
): Promise<number> {
  if (!isToken(token) && !isName(token))
    throw new UsageError(
      `${token} is neither the token of a webhook endpoint, which has 10 letters and digits, nor its name.`,
    )
  const to = urlOf(flags.to, '--to')
  const holdSeconds = holdOf(flags)
  const server = serverFrom(flags.server)
  const apiToken = await apiTokenFrom(flags['api-token-file'])
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(name, () => stopping.abort())
  const id = await findEndpoint(server, token, apiToken, stopping.signal)
  const events = serviceUrl(server, `/api/webhook/endpoints/${id}/events`)
  const answering = flags.answer
    ? await startAnswering({ server, endpointId: id, apiToken, holdSeconds }, stopping.signal)
    : null
  if (!json) console.error(`Forwarding ${token} to ${to.href}. Press Ctrl-C to stop.`)
  const listening = { events, to, apiToken, json, answering }
  try {
    return await listen(listening, flags.all ? '0' : null, stopping.signal)
  } finally {
    await answering?.end()
  }
}

/** @throws UsageError */
function holdOf({ hold, answer }: ListenFlags): number {
  if (hold === undefined) return DEFAULT_HOLD_SECONDS
  const seconds = Number(hold)
  if (!answer) throw new UsageError('--hold requires --answer.')
  if (seconds >= 1 && seconds <= MAX_HOLD_SECONDS) return seconds
  throw new UsageError(`--hold must be a number from 1 to ${MAX_HOLD_SECONDS}.`)
}

async function findEndpoint(
  server: URL,
  token: string,
  apiToken: string,
  signal: AbortSignal,
): Promise<string> {
  type Answer = { endpoints: { id: string; token: string; name: string | null }[] }
  const { endpoints } = await askService<Answer>(
    serviceUrl(server, '/api/webhook/endpoints'),
    apiToken,
    signal,
    'endpoints',
  )
  const endpoint = endpoints.find((one) => one.token === token || one.name === token)
  if (!endpoint)
    throw new Fault(
      'not_found',
      `The account of this API token has no webhook endpoint ${token}. Check the token.`,
    )
  return endpoint.id
}

/** @returns the exit code: 0 when stopped, 1 when the endpoint was deleted */
async function listen(
  listening: Listening,
  from: string | null,
  signal: AbortSignal,
): Promise<number> {
  let after = from
  let wait = BACKOFF_MS.first
  const answered = new Set<Promise<void>>()
  while (!signal.aborted) {
    try {
      for await (const event of followEvents(
        listening.events,
        { token: listening.apiToken, after },
        signal,
      )) {
        wait = BACKOFF_MS.first
        if (event.name === 'deleted') return 1
        const handled = handleEvent(event, listening, signal)
        if (listening.answering) {
          const task: Promise<void> = handled.finally(() => answered.delete(task))
          answered.add(task)
          if (answered.size >= MAX_ANSWERED) await Promise.race(answered)
        } else await handled
        after = event.id
      }
    } catch (error) {
      if (!(error instanceof Fault) || error.code !== 'upstream_unreachable') throw error
      console.error(paint('yellow', error.message, process.stderr))
    }
    await sleep(wait, undefined, { signal }).catch(() => {})
    wait = Math.min(wait * 2, BACKOFF_MS.max)
  }
  return 0
}

async function handleEvent(
  { name, data }: ServerEvent,
  { to, json, answering }: Listening,
  signal: AbortSignal,
): Promise<void> {
  if (name === 'skipped')
    console.error(
      paint('yellow', 'Some requests were skipped because they arrived too fast.', process.stderr),
    )
  if (name !== 'request') return
  const request = JSON.parse(data) as Captured
  const begun = performance.now()
  const outcome =
    refusalOf(request) ??
    (answering && isFresh(request, answering)
      ? await sendAndAnswer(to, request, answering, signal)
      : await send(to, request, signal))
  const ms = Math.round(performance.now() - begun)
  const { id, method, path, query } = request
  if (json) {
    console.log(JSON.stringify({ id, method, path, query, ...outcome, ms }))
    return
  }
  const target = sanitizeForTerminal(path + (query && `?${query}`)) || '/'
  const result =
    'status' in outcome
      ? `${outcome.status} ${paint('dim', `${ms} ms`)}`
      : paint('red', outcome.error)
  console.log(`${method.padEnd(7)} ${target} → ${result}`)
}

/** The reason not to forward: a request that is not complete cannot be sent unchanged. */
function refusalOf({ rejected, aborted, truncated }: Captured): { error: string } | null {
  if (rejected !== null) return { error: `not forwarded, the endpoint refused it: ${rejected}` }
  if (aborted || truncated) return { error: 'not forwarded: its body is incomplete' }
  return null
}

/** Whether the sender of a request may still wait. */
function isFresh({ receivedAt }: Captured, { holdSeconds }: Answering): boolean {
  return Date.now() - new Date(receivedAt).getTime() < holdSeconds * 1000
}

type Outcome = { status: number } | { error: string }

/** The truth, unlike a success: the sender sends again. */
function localFailure(error: string): ForwardedResponse {
  const body = Buffer.from(JSON.stringify({ error }))
  return { status: 502, headers: [['Content-Type', 'application/json']], body }
}

async function sendAndAnswer(
  to: URL,
  request: Captured,
  answering: Answering,
  signal: AbortSignal,
): Promise<Outcome> {
  // Longer than the sender waits: a late answer is shown on the request.
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)])
  let error: string | null = null
  const response = await forwardAndRead(to, forwardedOf(request), deadline, MAX_ANSWER_BYTES).catch(
    (fault: unknown) => {
      error = failureOf(to, fault)
      return localFailure(error)
    },
  )
  const problem = await answering.answer(request.id, response)
  if (error !== null) return { error }
  if (problem === null) return { status: response.status }
  return { error: `answered ${response.status}, but not to the sender: ${problem}` }
}

function forwardedOf(request: Captured): ForwardedRequest {
  const { method, headers, path, query } = emailAsHttp(request)
  const body = Buffer.from(request.body, request.bodyEncoding)
  return { method, path: path + (query && `?${query}`), headers, body }
}

async function send(to: URL, request: Captured, signal: AbortSignal): Promise<Outcome> {
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)])
  try {
    return { status: await forward(to, forwardedOf(request), deadline) }
  } catch (error) {
    return { error: failureOf(to, error) }
  }
}

/** Why the local server has no response. */
function failureOf({ host }: URL, error: unknown): string {
  const code = (error as NodeJS.ErrnoException | null)?.code ?? ''
  const isUntrusted = PRIVATE_ISSUER_CODES.has(code)
  return isUntrusted
    ? `the certificate of ${host} ${UNVERIFIED[code]}. Trust it with NODE_EXTRA_CA_CERTS.`
    : `${host} did not answer: ${messageOf(error)}`
}
