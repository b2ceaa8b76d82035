import { encodeBytes } from '../present-request.ts'
import type { Header } from '../headers.ts'
import type { RequestRow } from '../requests/captured-request.ts'

/** In place of a value that a link does not show. */
const REDACTED = '…'

/** What names of secrets contain: `X-Api-Key`, `X-Shopify-Hmac-Sha256`, `access_token`. */
const SECRET_NAME = new RegExp(
  [
    'auth|token|secret|signature|hmac|passw|session|cookie|credential|jwt|assertion|saml',
    '(?:api|access|private|shared|subscription|functions|license|service|master)[-_]?key',
    // Whole words: `PayPal-Transmission-Sig`, and the `code` of a sign-in, but not `signal` or `keyword`.
    '(?:^|[-_])(?:sig|pwd|pass|pin|otp|dpop)(?:$|[-_])',
    '^(?:x[-_])?(?:key|code)$',
  ].join('|'),
  'i',
)

/** Names under which proxies pass on the address of a client. */
const CLIENT_NAME =
  /forwarded(?:-for)?$|(?:client|real|connecting|user|remote|source)-?(?:ip|ipv6|addr|address)$|external-address$/i

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
    // Whatever the header is called: a mail has the address in `Received`.
    const namesClient = CLIENT_NAME.test(name) || value.includes(row.ip)
    return [name, namesClient || SECRET_NAME.test(name) ? hide(name) : value]
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
