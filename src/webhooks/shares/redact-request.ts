import { encodeBytes } from '../present-request.ts'
import type { Header } from '../headers.ts'
import type { RequestRow } from '../requests/captured-request.ts'

/** In place of a value that a link does not show. */
const REDACTED = '…'

/** Headers whose values are secrets, or name the client. */
const SECRET_HEADERS = new Set([
  'authorization',
  'proxy-authorization',
  'cookie',
  'set-cookie',
  'forwarded',
  'x-forwarded-for',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
])

/** What names of secrets contain: `X-Api-Key`, `webhook-signature`, `access_token`. */
const SECRET_NAME =
  /auth|token|secret|signature|passw|session|credential|api[-_]?key|private[-_]?key|^sig$|^key$|^hmac/i

export type RedactedRequest = {
  method: string
  path: string
  query: string
  headers: Header[]
  /** Null where the link does not show it. */
  body: string | null
  bodyEncoding: 'utf8' | 'base64'
  bodySize: number
  truncated: boolean
  contentType: string | null
  receivedAt: Date
  /** The names of headers and query fields whose values are hidden. */
  redacted: string[]
}

/**
 * A captured request for people outside the workspace: without the address of its client, and
 * without the values of headers and query fields that are secrets.
 */
export function redactRequest(row: RequestRow, withBody: boolean): RedactedRequest {
  const hidden = new Set<string>()
  const hide = (name: string) => {
    hidden.add(name)
    return REDACTED
  }
  const headers = row.headers.map(([name, value]): Header => {
    const isSecret = SECRET_HEADERS.has(name.toLowerCase()) || SECRET_NAME.test(name)
    return [name, isSecret ? hide(name) : value]
  })
  const query = row.query
    .split('&')
    .map((field) => {
      const [name = ''] = field.split('=', 1)
      const isSecret = field.includes('=') && SECRET_NAME.test(decodeName(name))
      return isSecret ? `${name}=${hide(name)}` : field
    })
    .join('&')
  const { method, path, bodySize, body, contentType, receivedAt } = row
  const { text, encoding } = encodeBytes(body)
  return {
    method,
    path,
    query,
    headers,
    body: withBody ? text : null,
    bodyEncoding: encoding,
    bodySize,
    truncated: bodySize > body.length,
    contentType,
    receivedAt,
    redacted: [...hidden],
  }
}

/** An escaped name is a name, too; one that is wrongly escaped stays as it is. */
function decodeName(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '))
  } catch {
    return name
  }
}
