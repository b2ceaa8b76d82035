import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../../errors.ts'
import { foreignOriginText, isProgram } from '../../http/auth.ts'
import { CLIENT_HEADER } from './auth-settings.ts'
import type { Auth } from './better-auth-loader.ts'

/** The request's headers for `fetch`, with the client address as seen through trusted proxies. */
export function fetchHeaders(request: FastifyRequest): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(request.headers)) {
    for (const value of [values ?? []].flat()) headers.append(name, value)
  }
  headers.set(CLIENT_HEADER, request.ip)
  return headers
}

/** @param given replaces the request's own body */
export function fetchRequest(
  request: FastifyRequest,
  path: string,
  auth: Auth,
  given?: object,
): Request {
  // Never built from the Host header or an absolute request target: the library would trust that
  // origin.
  const url = new URL(`/api/auth${path}`, auth.baseUrl)
  url.search = new URLSearchParams(request.query as Record<string, string>).toString()
  const sent = Buffer.isBuffer(request.body) ? new Uint8Array(request.body) : null
  const body = given ? JSON.stringify(given) : sent
  const headers = fetchHeaders(request)
  headers.delete('content-length')
  // The library would reject a program that sends a cookie but no origin.
  if (isProgram(request.headers)) headers.set('origin', url.origin)
  return new Request(url, { method: request.method, headers, body })
}

/** A cookie of a session, as the library deletes it. */
const DELETED_SESSION = /session_(?:token|data)=;|dont_remember=;/

/**
 * Leaves the cookie of a session that has ended in the browser. The request may have been on its way
 * while another one replaced the session, as a second factor does: deleting the cookie would then
 * delete the new one, and sign the person out.
 */
export function keepSessionCookie(response: Response): Response {
  if (response.status !== 401) return response
  const cookies = response.headers.getSetCookie()
  response.headers.delete('set-cookie')
  for (const cookie of cookies)
    if (!DELETED_SESSION.test(cookie)) response.headers.append('set-cookie', cookie)
  return response
}

/** The library says that an origin is wrong, but neither which one is right nor where that is set. */
export async function explainOrigin(response: Response, ownOrigin: string): Promise<Response> {
  if (response.status !== 403) return response
  const text = await response.text()
  if (!text.includes('"INVALID_ORIGIN"')) return new Response(text, response)
  const message = foreignOriginText(ownOrigin)
  return Response.json({ code: 'INVALID_ORIGIN', message }, { status: 403 })
}

/** Sends the response of the library as it is; its failures become those of this service. */
export async function sendResponse(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  if (response.status >= 500) {
    throw new Fault(
      'unavailable',
      'Sign-in is temporarily unavailable. Try again in a few seconds.',
      { retryAfter: 5 },
    )
  }
  reply.code(response.status)
  for (const [name, value] of response.headers) reply.header(name, value)
  const wait = response.headers.get('x-retry-after')
  if (wait) reply.header('retry-after', wait)
  return reply.send(Buffer.from(await response.arrayBuffer()))
}

/**
 * Reads the named fields of a JSON body, by default all. The library receives exactly these values, so that the
 * checks around it and the library always mean the same account.
 * @throws Fault `unsupported_media_type`, `invalid_request`
 */
export function fieldsOf(
  { headers, body }: FastifyRequest,
  names?: string[],
): Record<string, unknown> {
  if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    throw new Fault(
      'unsupported_media_type',
      'This endpoint requires JSON. Send Content-Type: application/json.',
    )
  }
  const given = parseObject(Buffer.isBuffer(body) ? body.toString() : '')
  if (!given) throw new Fault('invalid_request', 'The body is not valid JSON.')
  const fields = (names ?? Object.keys(given))
    .filter((name) => Object.hasOwn(given, name))
    .map((name) => [name, given[name]] as const)
  // All fields are texts and booleans. A list may be nested too deeply to be serialized again.
  const nested = fields.find(([, value]) => typeof value === 'object' && value !== null)
  if (nested) throw new Fault('invalid_request', `${nested[0]} must not be an object or a list.`)
  return Object.fromEntries(fields)
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
