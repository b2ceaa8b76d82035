import type { PrivateTargets } from '../../setting-values.ts'
import { Fault } from '../../errors.ts'
import type { Resolver } from '../../net/dns.ts'
import { post } from '../../net/http/post.ts'
import { retryAfterMs } from '../../net/http/retry-after.ts'
import { SECOND_MS } from '../../time.ts'
import { Later } from './outcomes.ts'

export type ServiceResponse = {
  status: number
  /** The body as text, and parsed where it is a JSON object; empty otherwise. */
  body: string
  json: Record<string, unknown>
  /** Seconds of the header `Retry-After`. */
  retryAfter: number | undefined
  /** “Slack responded 404: no_service”, for errors: without anything secret. */
  words: string
}

type ServiceRequest = {
  method?: 'POST' | 'PUT' | 'PATCH'
  headers?: Record<string, string>
} & ({ json: unknown } | { form: URLSearchParams })

/** Sends one request; responses that mean “later” are thrown as `Later`. */
export type Http = (url: string, request: ServiceRequest) => Promise<ServiceResponse>

type HttpOptions = {
  resolver: Resolver
  allowPrivate: PrivateTargets
  /** Name of the service, for errors. */
  name: string
  /** Secret settings, which no error may contain. */
  secrets: readonly string[]
  /** Other origins of hosted services. */
  origins: ReadonlyMap<string, string>
  beforeRequest: () => Promise<void>
  onResponse: (response: ServiceResponse) => void
  signal: AbortSignal
}

/** Creates the only way out that a channel type has. */
export function createHttp({
  name,
  secrets,
  origins,
  beforeRequest,
  onResponse,
  signal,
  ...deps
}: HttpOptions): Http {
  const removed = secrets.flatMap(partsOf)
  return async (address, request) => {
    const url = new URL(address)
    const origin = origins.get(url.origin)
    const target = origin ? new URL(url.pathname + url.search, origin) : url
    const { type, body } = encode(request)
    const { method = 'POST', headers } = request
    const sent = { method, headers: { 'content-type': type, ...headers }, body, beforeRequest }
    const answer = await post(target, sent, deps, signal).catch((error: unknown) => {
      throw nameSetting(error)
    })
    const response: ServiceResponse = {
      status: answer.status,
      body: answer.body,
      json: objectIn(answer.body),
      retryAfter: secondsIn(answer.retryAfter),
      words: describe(name, { ...answer, isPrivate: answer.isPrivate && !origin }, removed),
    }
    onResponse(response)
    if (answer.status === 429 || answer.status >= 500)
      throw new Later(response.words, response.retryAfter ?? retryAfterIn(response.json))
    return response
  }
}

function encode(request: ServiceRequest): { type: string; body: string } {
  return 'form' in request
    ? { type: 'application/x-www-form-urlencoded', body: request.form.toString() }
    : { type: 'application/json', body: JSON.stringify(request.json) }
}

/** The setting that allows a private server for alerts alone. */
function nameSetting(error: unknown): unknown {
  if (!(error instanceof Fault) || error.code !== 'target_not_allowed') return error
  const sentence = error.message.replace('ALLOW_PRIVATE_TARGETS', 'ALERT_PRIVATE_TARGETS')
  return new Fault('target_not_allowed', sentence)
}

/** Seconds in `Retry-After`, a number or a date (RFC 9110, 10.2.3). Discord sends fractions. */
export function secondsIn(header: string | null): number | undefined {
  if (header !== null && /^\d+\.\d+$/.test(header)) return Number(header)
  const milliseconds = retryAfterMs(header, Date.now())
  return milliseconds === null || milliseconds < 0 ? undefined : milliseconds / SECOND_MS
}

/** Discord and Telegram put the seconds into the body, Matrix milliseconds. */
function retryAfterIn(json: Record<string, unknown>): number | undefined {
  const { retry_after: direct, retry_after_ms: milliseconds, parameters } = json
  const nested = (parameters as { retry_after?: unknown } | undefined)?.retry_after
  const seconds = typeof milliseconds === 'number' ? milliseconds / 1000 : (direct ?? nested)
  return typeof seconds === 'number' && seconds >= 0 ? seconds : undefined
}

function objectIn(body: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(body)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

/** Characters of a response that an error shows. */
const MAX_WORDS_LENGTH = 200

function describe(
  name: string,
  { status, body, isPrivate }: { status: number; body: string; isPrivate: boolean },
  secrets: readonly string[],
): string {
  const start = `${name} responded ${status}`
  // Another server in the private network must not be readable through this one.
  if (isPrivate || body.trim() === '') return `${start}.`
  return `${start}: ${redact(body, secrets).slice(0, MAX_WORDS_LENGTH)}`
}

/** One line without control characters and without these secrets. */
function redact(text: string, secrets: readonly string[]): string {
  let line = text.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()
  for (const secret of secrets) if (secret !== '') line = line.replaceAll(secret, '[removed]')
  return line
}

/** Shorter values in a URL, such as `v=1`, are no secrets. */
const MIN_SECRET_LENGTH = 6

/** A secret, and of a URL also its path and query, which are what makes it one. */
function partsOf(secret: string): string[] {
  if (!URL.canParse(secret)) return [secret]
  const { pathname, search, searchParams } = new URL(secret)
  const values = [search.slice(1), ...search.slice(1).split('&'), ...searchParams.values()]
  const isSecret = (value: string) => value.length >= MIN_SECRET_LENGTH
  return [secret, pathname.length > 1 ? pathname : '', ...values.filter(isSecret)]
}
