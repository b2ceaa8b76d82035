import { setTimeout as sleep } from 'node:timers/promises'
import { Fault, messageOf } from '../../errors.ts'
import { askService, followEvents, type ServerEvent } from '../../net/http/event-stream.ts'
import { forward } from '../../net/http/forward.ts'
import type { presentRequest } from '../../webhooks/present.ts'
import { UsageError } from '../command.ts'
import { apiTokenFrom, serverFrom, serviceUrl, urlOf } from '../service-access.ts'
import { sanitizeForTerminal, paint } from '../text.ts'
import type { ListenFlags } from './flags.ts'

/** Delays before reconnecting: the first, and the longest. */
const BACKOFF_MS = { first: 500, max: 15_000 }

/** Time limit for the response of the local server. */
const RESPONSE_TIMEOUT_MS = 30_000

type Captured = ReturnType<typeof presentRequest>
type Listening = { events: URL; to: URL; apiToken: string; json: boolean }

/**
 * Forwards the captured requests of a webhook endpoint until SIGINT, SIGTERM or SIGHUP.
 * @returns the exit code: 0 when stopped, 1 when the endpoint was deleted
 */
export async function forwardRequests(
  token: string,
  flags: ListenFlags,
  json: boolean,
): Promise<number> {
  if (!/^[A-Za-z0-9]{10}$/.test(token))
    throw new UsageError(
      `${token} is not the token of a webhook endpoint: it has 10 letters and digits.`,
    )
  const to = urlOf(flags.to, '--to')
  const server = serverFrom(flags.server)
  const apiToken = await apiTokenFrom(flags['api-token-file'])
  const stopping = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.once(name, () => stopping.abort())
  const id = await findEndpoint(server, token, apiToken, stopping.signal)
  const events = serviceUrl(server, `/api/webhook/endpoints/${id}/events`)
  if (!json) console.error(`Forwarding ${token} to ${to.href}. Press Ctrl-C to stop.`)
  return listen({ events, to, apiToken, json }, flags.all ? '0' : null, stopping.signal)
}

async function findEndpoint(
  server: URL,
  token: string,
  apiToken: string,
  signal: AbortSignal,
): Promise<string> {
  type Answer = { endpoints: { id: string; token: string }[] }
  const { endpoints } = await askService<Answer>(
    serviceUrl(server, '/api/webhook/endpoints'),
    apiToken,
    signal,
  )
  const endpoint = endpoints.find((one) => one.token === token)
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
  while (!signal.aborted) {
    try {
      for await (const event of followEvents(
        listening.events,
        { token: listening.apiToken, after },
        signal,
      )) {
        wait = BACKOFF_MS.first
        if (event.name === 'deleted') return 1
        await handleEvent(event, listening, signal)
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
  { to, json }: Listening,
  signal: AbortSignal,
): Promise<void> {
  if (name === 'skipped')
    console.error(
      paint('yellow', 'Some requests were skipped because they arrived too fast.', process.stderr),
    )
  if (name !== 'request') return
  const request = JSON.parse(data) as Captured
  const begun = performance.now()
  const outcome = refusalOf(request) ?? (await send(to, request, signal))
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

async function send(
  to: URL,
  request: Captured,
  signal: AbortSignal,
): Promise<{ status: number } | { error: string }> {
  const { method, headers, path, query } = request
  const body = Buffer.from(request.body, request.bodyEncoding)
  const deadline = AbortSignal.any([signal, AbortSignal.timeout(RESPONSE_TIMEOUT_MS)])
  try {
    const status = await forward(
      to,
      { method, path: path + (query && `?${query}`), headers, body },
      deadline,
    )
    return { status }
  } catch (error) {
    return { error: `${to.host} did not answer: ${messageOf(error)}` }
  }
}
