import type { IncomingMessage, ServerResponse } from 'node:http'
import { findHeader, type Header } from '../headers.ts'

/**
 * A response as it is sent: header names and values in turn, without a length. The body has one
 * byte per character, so that it is sent in one write with its headers.
 */
export type CaptureResponse = {
  status: number
  headers: string[]
  body: string
  /** The headers for a browser, where others would ask its user for a password. */
  browserHeaders?: string[]
}

/** The response settings of an endpoint. */
export type ResponseSettings = { responseStatus: number; responseType: string; cors: boolean }

/**
 * Strangers choose the content of these responses, on an origin that may be the dashboard’s.
 * Therefore a browser gives the page an opaque origin, runs no script, sends no form, never loads
 * it as a script or frame of another page, and search engines skip it.
 */
const SANDBOX_HEADERS = [
  'Content-Security-Policy',
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options',
  'nosniff',
  'Referrer-Policy',
  'no-referrer',
  'X-Robots-Tag',
  'noindex, nofollow',
  'Cross-Origin-Opener-Policy',
  'same-origin',
  'Cache-Control',
  'no-store',
]
const SAME_SITE_HEADERS = [...SANDBOX_HEADERS, 'Cross-Origin-Resource-Policy', 'same-site']
const CROSS_ORIGIN_HEADERS = [
  ...SANDBOX_HEADERS,
  'Cross-Origin-Resource-Policy',
  'cross-origin',
  'Access-Control-Allow-Origin',
  '*',
  'Access-Control-Expose-Headers',
  '*',
]

const METHODS = 'GET, POST, PUT, DELETE, PATCH, HEAD, OPTIONS'
const TOKEN_LIST = /^[\w!#$%&'*+.^`|~-]+(?:[ \t]*,[ \t]*[\w!#$%&'*+.^`|~-]+)*$/
const BODILESS_STATUSES = new Set([204, 205, 304])

/**
 * Fetch destinations that are rejected: loaded as part of a page whose policy allows this origin,
 * the content would run.
 */
const EMBEDDED_DESTINATIONS = new Set([
  'script',
  'style',
  'worker',
  'sharedworker',
  'serviceworker',
  'object',
  'embed',
  'iframe',
  'frame',
])

/**
 * @param body one byte per character
 * @param own further headers, behind those that protect browsers
 */
export function configuredResponse(
  { responseStatus: status, responseType, cors }: ResponseSettings,
  body: string,
  own: readonly Header[] = [],
): CaptureResponse {
  const isBodiless = BODILESS_STATUSES.has(status)
  const usual = [
    ...(cors ? CROSS_ORIGIN_HEADERS : SAME_SITE_HEADERS),
    ...(isBodiless ? [] : ['Content-Type', responseType]),
  ]
  const quiet = own.filter(([name]) => name.toLowerCase() !== 'www-authenticate')
  return {
    status,
    headers: [...usual, ...own.flat()],
    body: isBodiless ? '' : body,
    ...(quiet.length < own.length && { browserHeaders: [...usual, ...quiet.flat()] }),
  }
}

/**
 * The response as this sender gets it: no stranger’s endpoint asks the user of a browser for a
 * password under this host’s name.
 */
export function responseFor(
  response: CaptureResponse,
  { headers }: IncomingMessage,
): CaptureResponse {
  const { browserHeaders } = response
  // Programs send Sec-Fetch-Mode, too, but none of the others.
  const isBrowser = headers['sec-fetch-site'] ?? headers.accept?.includes('text/html')
  return browserHeaders && isBrowser ? { ...response, headers: browserHeaders } : response
}

/** Whether a response has no body, whatever is configured. */
export const isBodiless = (status: number): boolean => BODILESS_STATUSES.has(status)

/** A response of the service itself to a sender, in plain text. */
export function textResponse(
  status: number,
  sentence: string,
  more: string[] = [],
): CaptureResponse {
  return {
    status,
    headers: [...CROSS_ORIGIN_HEADERS, 'Content-Type', 'text/plain; charset=utf-8', ...more],
    body: encodeBody(`${sentence}\n`),
  }
}

/** The UTF-8 of a text, one byte per character. */
export function encodeBody(text: string): string {
  return Buffer.from(text).toString('latin1')
}

/** Whether this is a CORS preflight of a browser (Fetch standard, CORS-preflight request). */
export function isPreflight(method: string, headers: Header[]): boolean {
  return (
    method === 'OPTIONS' &&
    findHeader(headers, 'origin') !== undefined &&
    findHeader(headers, 'access-control-request-method') !== undefined
  )
}

/**
 * Allows the request with any headers it names, because an endpoint shows whatever is sent. Never
 * allows credentials.
 */
export function preflightResponse(headers: Header[]): CaptureResponse {
  const requested = findHeader(headers, 'access-control-request-headers')
  const allowed =
    requested !== undefined && TOKEN_LIST.test(requested)
      ? ['Access-Control-Allow-Headers', requested]
      : []
  const vary = 'Origin, Access-Control-Request-Method, Access-Control-Request-Headers'
  const more = [
    'Access-Control-Allow-Methods',
    METHODS,
    ...allowed,
    'Access-Control-Max-Age',
    '600',
    'Vary',
    vary,
  ]
  return { status: 204, headers: [...CROSS_ORIGIN_HEADERS, ...more], body: '' }
}

/** Rejects a page that would load the response as a part of itself; null for any other request. */
export function embeddingResponse({ headers }: IncomingMessage): CaptureResponse | null {
  const destination = headers['sec-fetch-dest']
  if (typeof destination !== 'string' || !EMBEDDED_DESTINATIONS.has(destination)) return null
  return { status: 403, headers: SAME_SITE_HEADERS, body: '' }
}

/** Sends a response. A HEAD request gets the length that a GET would get. */
export function sendResponse(
  response: ServerResponse,
  { status, headers, body }: CaptureResponse,
): void {
  const length =
    BODILESS_STATUSES.has(status) && status !== 205 ? [] : ['Content-Length', String(body.length)]
  response.writeHead(status, [...headers, ...length])
  response.end(response.req.method === 'HEAD' ? '' : body, 'latin1')
}

/**
 * Milliseconds in which a sender that still sends can read the response. Closed at once, it would
 * see a connection error.
 */
const LINGER_MS = 2_000

/** Sends a response and closes the connection, while the rest of a body may still arrive. */
export function sendResponseAndClose(
  response: ServerResponse,
  { status, headers, body }: CaptureResponse,
): void {
  const { req } = response
  response.writeHead(status, [
    ...headers,
    'Content-Length',
    String(body.length),
    'Connection',
    'close',
  ])
  response.write(body, 'latin1')
  req.resume()
  const timer = setTimeout(() => response.end(), LINGER_MS)
  req.once('close', () => {
    clearTimeout(timer)
    response.end()
  })
}
