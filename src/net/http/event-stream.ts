import { Fault, messageOf, type FaultCode } from '../../errors.ts'
import { NOT_TLS_CODES, PRIVATE_ISSUER_CODES, UNVERIFIED } from '../tls/failure-codes.ts'

/** One server-sent event; `id` is the last one that the stream named. */
export type ServerEvent = { id: string; name: string; data: string }

/**
 * Characters of one event; in the largest of ours each byte of a mebibyte is an escape of six
 * characters.
 */
const MAX_EVENT_CHARACTERS = 8 * 1024 * 1024

/**
 * Milliseconds of silence after which a stream is dead. The service sends something every fifteen
 * seconds.
 */
const SILENCE_TIMEOUT_MS = 45_000

/** Answers of a service, or of the proxy before it, that is about to be there again. */
const TEMPORARY_STATUSES = new Set([429, 502, 503, 504])

/** A request to one of our own services; a POST unless `method` says otherwise. */
type ServiceRequest = { method?: 'POST' | 'DELETE'; body?: object }

/**
 * Asks one of our own services for JSON.
 * @param token null for a public route
 * @param field one that its answer has; null where it has none that must be there
 * @throws Fault with the service's sentence, `upstream_unreachable` when it does not answer
 */
export async function askService<T>(
  url: URL,
  token: string | null,
  signal: AbortSignal,
  field: (keyof T & string) | null,
  sent?: ServiceRequest,
): Promise<T> {
  const headers = {
    accept: 'application/json',
    ...(token !== null && { authorization: `Bearer ${token}` }),
    ...(sent?.body && { 'content-type': 'application/json' }),
  }
  const body = sent?.body && JSON.stringify(sent.body)
  const request = sent ? { method: sent.method ?? 'POST', ...(body && { body }) } : {}
  const response = await get(url, headers, signal, request)
  const answer: unknown = await response.json().catch((cause: unknown) => {
    if (!(cause instanceof SyntaxError)) throw cause
    return null
  })
  const isOurs = field === null || Object.hasOwn(Object(answer) as object, field)
  if (answer === null || !isOurs)
    throw new Fault(
      'upstream_rejected',
      `The answer of ${url.origin} is not Portreeve’s. ${CHECK_URL}`,
    )
  return answer as T
}

const CHECK_URL = 'Check the URL, and a proxy in front of it.'

/**
 * Follows an event stream of a Portreeve service until it ends.
 * @param after the ID of the last event that was seen; null to start with the next event
 * @throws Fault as `askService`; `upstream_unreachable` also when the stream is interrupted or
 *   silent
 */
export async function* followEvents(
  url: URL,
  { token, after }: { token: string; after: string | null },
  signal: AbortSignal,
): AsyncGenerator<ServerEvent> {
  const headers: Record<string, string> = {
    authorization: `Bearer ${token}`,
    accept: 'text/event-stream',
  }
  if (after !== null) headers['last-event-id'] = after
  const silence = new AbortController()
  try {
    const { body } = await get(url, headers, AbortSignal.any([signal, silence.signal]))
    if (body) yield* readEvents(untilSilent(body.pipeThrough(new TextDecoderStream()), silence))
  } catch (cause) {
    if (signal.aborted) return
    if (cause instanceof Fault) throw cause
    throw new Fault(
      'upstream_unreachable',
      `The event stream was interrupted: ${messageOf(cause)}.`,
      { cause },
    )
  }
}

/** Only the time spent waiting counts: a slow reader must not look like a silent stream. */
async function* untilSilent(
  pieces: AsyncIterable<string>,
  silence: AbortController,
): AsyncGenerator<string> {
  const wait = () =>
    setTimeout(() => silence.abort(new Error('no data received')), SILENCE_TIMEOUT_MS)
  let timer = wait()
  try {
    for await (const piece of pieces) {
      clearTimeout(timer)
      yield piece
      timer = wait()
    }
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Reads events from text in pieces, as the HTML standard describes them (9.2.6); comments and
 * `retry` are passed over.
 */
export async function* readEvents(pieces: AsyncIterable<string>): AsyncGenerator<ServerEvent> {
  let rest = ''
  let id = ''
  for await (const piece of pieces) {
    rest += piece
    const blocks = rest.split('\n\n')
    rest = blocks.pop() ?? ''
    if (rest.length > MAX_EVENT_CHARACTERS) throw new Error('an event is too large')
    for (const block of blocks) {
      const fields = fieldsOf(block)
      id = fields.get('id') ?? id
      const data = fields.get('data')
      if (data !== undefined) yield { id, name: fields.get('event') ?? 'message', data }
    }
  }
}

function fieldsOf(block: string): Map<string, string> {
  const fields = new Map<string, string>()
  for (const line of block.split('\n')) {
    const [, name = '', value = ''] = /^([^:]+)(?:: ?(.*))?$/s.exec(line) ?? []
    const before = fields.get(name)
    fields.set(name, name === 'data' && before !== undefined ? `${before}\n${value}` : value)
  }
  return fields
}

async function get(
  url: URL,
  headers: Record<string, string>,
  signal: AbortSignal,
  sent: Pick<RequestInit, 'method' | 'body'> = {},
): Promise<Response> {
  // At another origin, the token would be missing, and a POST a GET.
  const init = { ...sent, headers, signal, redirect: 'manual' } as const
  const response = await fetch(url, init).catch((cause: unknown) => {
    throw new Fault('upstream_unreachable', sentenceOf(url, cause), { cause })
  })
  if (response.ok) return response
  const location = response.headers.get('location')
  if (location !== null && URL.canParse(location, url.href)) {
    const { origin, pathname } = new URL(location, url)
    const advice = origin === url.origin ? CHECK_URL : 'Use that URL.'
    throw new Fault(
      'upstream_rejected',
      `${url.origin} redirects to ${origin}${pathname}. ${advice}`,
    )
  }
  const answer = (await response.json().catch(() => ({}))) as { error?: string }
  const sentence = answer.error ?? `HTTP status ${response.status}.`
  throw new Fault(codeOf(response.status), `${url.origin}: ${sentence}`)
}

function codeOf(status: number): FaultCode {
  if (TEMPORARY_STATUSES.has(status)) return 'upstream_unreachable'
  return status === 401 ? 'unauthenticated' : status === 404 ? 'not_found' : 'upstream_rejected'
}

/** Why there is no answer. The cause of “fetch failed” is inside the error. */
function sentenceOf({ origin, protocol }: URL, error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error
  const code = (cause as NodeJS.ErrnoException).code ?? ''
  if (PRIVATE_ISSUER_CODES.has(code))
    return `The certificate of ${origin} ${UNVERIFIED[code]}. Trust your own authority with NODE_EXTRA_CA_CERTS.`
  // EPROTO is any failure of a handshake.
  if (code !== 'EPROTO' && NOT_TLS_CODES.has(code))
    return `${origin} does not speak TLS on this port: use http://.`
  return `${origin} did not respond: ${messageOf(cause)}.${unusedProxy(protocol)}`
}

/** How Node uses a proxy of the environment, which it ignores by itself. */
function unusedProxy(protocol: string): string {
  const { env } = process
  const name = protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY'
  const isUnused = (env[name] || env[name.toLowerCase()]) && env['NODE_USE_ENV_PROXY'] !== '1'
  return isUnused ? ` Set NODE_USE_ENV_PROXY=1 to use ${name}.` : ''
}
