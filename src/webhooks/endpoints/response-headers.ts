import type { FaultDetail } from '../../errors.ts'
import { parseUrl } from '../../parse-url.ts'
import type { Header } from '../headers.ts'
import { MAX_RESPONSE_HEADER_BYTES } from '../limits.ts'

/** Headers of the connection and of the framing of a message, which the server sets itself. */
const FRAMING = [
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]

/**
 * Headers that would change more than the response: they protect the browser, or concern the whole
 * origin, which strangers share. Some are of the service itself.
 */
const PROTECTED = [
  'alt-svc',
  'cache-control',
  'clear-site-data',
  'date',
  'link',
  'nel',
  'permissions-policy',
  'referrer-policy',
  'refresh',
  'report-to',
  'reporting-endpoints',
  'server',
  'service-worker-allowed',
  'sourcemap',
  'strict-transport-security',
  'via',
  'x-content-type-options',
  'x-frame-options',
  'x-robots-tag',
]
const PROTECTED_PREFIXES = [
  'access-control-',
  'content-security-policy',
  'cross-origin-',
  'public-key-pins',
  'sec-',
  'set-cookie',
  'x-portreeve-',
  'x-webhook-',
]

const INSTEAD: Record<string, string> = {
  'content-type': 'is set by the media type of the response',
  'access-control-allow-origin': 'is set by the setting cors',
}

/** Characters of a media type. */
const MAX_TYPE_CHARS = 127

const FORBIDDEN = new Set([...FRAMING, ...PROTECTED])
/** RFC 9110, 5.1 and 5.5: a token; visible characters, with blanks between them. */
const NAME = /^[\w!#$%&'*+.^`|~-]{1,100}$/
const VALUE = /^(?:[!-~\u0080-\u00ff](?:[ \t!-~\u0080-\u00ff]*[!-~\u0080-\u00ff])?)?$/

/** Finds what is wrong with the further headers of a response. */
export function findWrongHeaders(
  headers: readonly (readonly [string, string])[],
  { path, status, hasOwnOrigin }: { path: string; status: number; hasOwnOrigin: boolean },
): FaultDetail[] {
  const bytes = headers.reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)
  const tooLarge =
    bytes > MAX_RESPONSE_HEADER_BYTES
      ? [{ path, message: `must have up to ${MAX_RESPONSE_HEADER_BYTES} bytes` }]
      : []
  return [
    ...tooLarge,
    ...headers.flatMap(([name, value], index) => {
      const message = problemOf(name.toLowerCase(), value, status, hasOwnOrigin)
      return message === null ? [] : [{ path: `${path}.${index}`, message: `${name} ${message}` }]
    }),
  ]
}

/**
 * The headers of a local server that can be sent: all but those that a user cannot set, within the
 * limits. The media type is among them.
 */
export function sendableAnswerHeaders(headers: readonly Header[], status: number): Header[] {
  let bytes = 0
  return headers.filter(([name, value]) => {
    const lower = name.toLowerCase()
    const isAllowed =
      lower === 'content-type'
        ? VALUE.test(value) && value.length <= MAX_TYPE_CHARS
        : lower !== 'location' && problemOf(lower, value, status, false) === null
    if (!isAllowed || bytes > MAX_RESPONSE_HEADER_BYTES) return false
    bytes += name.length + value.length + 4
    return true
  })
}

/** Finds what is wrong with headers that are set on forwarded requests. */
export function findWrongRequestHeaders(
  headers: readonly (readonly [string, string])[],
  path: string,
): FaultDetail[] {
  return headers.flatMap(([name, value], index) => {
    const lower = name.toLowerCase()
    const isOurs = lower.startsWith('x-portreeve-') || lower.startsWith('webhook-')
    const message = !NAME.test(name)
      ? 'is not the name of a header'
      : !VALUE.test(value)
        ? 'must have a value in one line'
        : isOurs || FRAMING.includes(lower)
          ? 'cannot be set'
          : null
    return message === null ? [] : [{ path: `${path}.${index}`, message: `${name} ${message}` }]
  })
}

function problemOf(
  name: string,
  value: string,
  status: number,
  hasOwnOrigin: boolean,
): string | null {
  if (!NAME.test(name)) return 'is not the name of a header'
  if (!VALUE.test(value)) return 'must have a value in one line'
  if (Object.hasOwn(INSTEAD, name)) return INSTEAD[name] as string
  if (FORBIDDEN.has(name) || PROTECTED_PREFIXES.some((prefix) => name.startsWith(prefix)))
    return 'cannot be set'
  if (name === 'location') return locationProblem(value, status, hasOwnOrigin)
  if (name === 'www-authenticate' && status !== 401) return 'requires the status 401'
  return null
}

/** A redirect from the dashboard’s own address would lend its name to any page. */
function locationProblem(value: string, status: number, hasOwnOrigin: boolean): string | null {
  if (status !== 201 && (status < 300 || status > 399)) return 'requires the status 201 or 3xx'
  if (!hasOwnOrigin) return 'requires a WEBHOOK_BASE_URL with another host than BASE_URL'
  return parseUrl(value, ['https:', 'http:']).problem
}

/**
 * The headers that can be sent: after a change of WEBHOOK_BASE_URL, no redirect leads away from the
 * dashboard’s own address.
 */
export function sendableHeaders(headers: readonly Header[], hasOwnOrigin: boolean): Header[] {
  return headers.filter(([name]) => hasOwnOrigin || name.toLowerCase() !== 'location')
}
