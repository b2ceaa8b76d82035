import type { IncomingHttpHeaders } from 'node:http'
import { guardedRequest, readBody, type GuardDeps } from './guarded-request.ts'

/** Bytes of a response, by default. Metadata and keys of a provider have a tenth of that. */
const DEFAULT_MAX_BYTES = 256 * 1024

/** Statuses of responses that must not have a body (Fetch standard, “null body status”). */
const NULL_BODY_STATUSES = new Set([204, 205, 304])

/** The part of `fetch` that libraries use which accept one of ours. */
export type GuardedFetch = (url: string, init: FetchInit) => Promise<Response>

type FetchInit = {
  method?: string
  headers?: Record<string, string>
  body?: unknown
  signal?: AbortSignal | undefined
}

/**
 * Creates a `fetch` for URLs that a stranger chose.
 * @param timeoutMs bounds every request
 * @param maxBytes bounds the body of every response
 * @returns a function that throws as `guardedRequest`, and `upstream_rejected` for a larger body
 */
export function createGuardedFetch(
  deps: GuardDeps,
  timeoutMs: number,
  maxBytes = DEFAULT_MAX_BYTES,
): GuardedFetch {
  return (address, { method = 'GET', headers = {}, body, signal }) => {
    const limit = AbortSignal.timeout(timeoutMs)
    const text = body instanceof URLSearchParams || typeof body === 'string' ? String(body) : ''
    return guardedRequest(
      new URL(address),
      { method, headers, ...(method !== 'GET' && { body: text }) },
      deps,
      signal ? AbortSignal.any([limit, signal]) : limit,
      async (response, { host }) => {
        const bytes = await readBody(response, host, maxBytes)
        const status = response.statusCode ?? 0
        const init = { status, headers: headersOf(response.headers) }
        return new Response(NULL_BODY_STATUSES.has(status) ? null : bytes, init)
      },
    )
  }
}

/** Sends requests for some origins to others, for tests. */
export function throughOrigins(
  guardedFetch: GuardedFetch,
  origins: ReadonlyMap<string, string> | undefined,
): GuardedFetch {
  if (!origins) return guardedFetch
  return (address, init) => {
    const { origin } = new URL(address)
    const other = origins.get(origin)
    return guardedFetch(other === undefined ? address : address.replace(origin, other), init)
  }
}

function headersOf(received: IncomingHttpHeaders): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(received))
    for (const each of [value ?? []].flat()) headers.append(name, each)
  return headers
}
