import { createHmac, timingSafeEqual } from 'node:crypto'

export const SIGNATURE_SCHEMES = [
  'github',
  'stripe',
  'standard',
  'slack',
  'shopify',
  'hmac',
] as const

/**
 * The signature scheme of a sender. `hmac` is configured with its header; the others are documented
 * by their providers.
 */
export type SignatureScheme = {
  scheme: (typeof SIGNATURE_SCHEMES)[number]
  /** For `hmac`: the header with the signature, and its prefix. */
  header?: string | undefined
  prefix?: string | undefined
  algorithm?: 'sha1' | 'sha256' | 'sha512' | undefined
  encoding?: 'hex' | 'base64' | undefined
}

export type SignedRequest = {
  headers: [name: string, value: string][]
  body: Buffer
  /** The body is not all that was sent. */
  truncated: boolean
  receivedAt: Date
}

/**
 * `unknown`: it cannot be verified, because the body is truncated. `unsigned`: there is no
 * signature to verify.
 */
export type SignatureVerdict = {
  status: 'valid' | 'invalid' | 'unsigned' | 'unknown'
  reason: string
}

/** The claims of a request: signatures, any of which may be valid, over `before` and the body. */
type Claim = {
  given: Buffer[]
  before: string
  /** When it was signed, in seconds since 1970; null where the sender does not state it. */
  at: number | null
  algorithm: string
  key: Buffer
}
type Reading = { claim: Claim } | { missing: string }
type Reader = (
  header: (name: string) => string | undefined,
  secret: string,
  scheme: SignatureScheme,
) => Reading

/** Seconds between signing and arrival that all of these senders' libraries allow. */
const TOLERANCE_SECONDS = 300

const READERS: Record<SignatureScheme['scheme'], Reader> = {
  github: (header, secret) =>
    simple(header, secret, {
      header: 'X-Hub-Signature-256',
      prefix: 'sha256=',
      algorithm: 'sha256',
      encoding: 'hex',
      isExact: true,
    }),
  shopify: (header, secret) =>
    simple(header, secret, {
      header: 'X-Shopify-Hmac-Sha256',
      prefix: '',
      algorithm: 'sha256',
      encoding: 'base64',
      isExact: true,
    }),
  hmac: (
    header,
    secret,
    { header: name = '', prefix = '', algorithm = 'sha256', encoding = 'hex' },
  ) => simple(header, secret, { header: name, prefix, algorithm, encoding, isExact: false }),
  stripe,
  standard,
  slack,
}

/**
 * Checks a webhook's signature over the bytes as they came, and says why it does not hold. Sources:
 * GitHub “Validating webhook deliveries”, Stripe “Verify webhook signatures manually”, the Standard
 * Webhooks specification (Svix is the same with other header names), Slack “Verifying requests from
 * Slack”, Shopify “Verify webhooks”.
 * @param secret as the sender's page shows it
 * @param isDiagnosed whether the usual reasons of a mismatch are tried, which takes several times as
 *   long
 */
export function checkSignature(
  scheme: SignatureScheme,
  secret: string,
  request: SignedRequest,
  isDiagnosed = true,
): SignatureVerdict {
  const header = (name: string) =>
    request.headers.find(([other]) => other.toLowerCase() === name.toLowerCase())?.[1]
  const reading = READERS[scheme.scheme](header, secret, scheme)
  if ('missing' in reading) return { status: 'unsigned', reason: reading.missing }
  const { claim } = reading
  if (claim.given.length === 0) return invalid('The header has no signature of this scheme.')
  if (request.truncated)
    return {
      status: 'unknown',
      reason: 'The stored body is truncated, so the signature cannot be checked.',
    }
  if (!isMatch(claim, request.body))
    return invalid(
      isDiagnosed ? mismatchReason(claim, request.body, secret, scheme, header) : MISMATCH,
    )
  const late = latenessOf(claim, request.receivedAt)
  return late === null ? { status: 'valid', reason: 'Valid signature.' } : invalid(late)
}

const MISMATCH =
  'The signature does not match: the secret is different, or the body was changed in transit.'

function invalid(reason: string): SignatureVerdict {
  return { status: 'invalid', reason }
}

/** One signature over the body alone. */
function simple(
  header: (name: string) => string | undefined,
  secret: string,
  how: {
    header: string
    prefix: string
    algorithm: string
    encoding: 'hex' | 'base64'
    isExact: boolean
  },
): Reading {
  const value = header(how.header)
  if (value === undefined) return { missing: `The ${how.header} header is missing.` }
  const given = value.startsWith(how.prefix)
    ? decoded([value.slice(how.prefix.length)], how.encoding, how.isExact)
    : []
  return {
    claim: { given, before: '', at: null, algorithm: how.algorithm, key: Buffer.from(secret) },
  }
}

/** `t=1492774577,v1=…,v1=…,v0=…` */
function stripe(header: (name: string) => string | undefined, secret: string): Reading {
  const value = header('Stripe-Signature')
  if (value === undefined) return { missing: 'The Stripe-Signature header is missing.' }
  const parts = value.split(',').map((part) => part.trim().split('=', 2) as [string, string?])
  const time = parts.find(([name]) => name === 't')?.[1] ?? ''
  const signatures = parts.filter(([name]) => name === 'v1').map(([, hex = '']) => hex)
  return {
    claim: timed(decoded(signatures, 'hex'), `${plainNumber(time)}.`, time, Buffer.from(secret)),
  }
}

/** `v1,<base64> v1,<base64>` over ID, time and body. The key is the part after `whsec_`. */
function standard(header: (name: string) => string | undefined, secret: string): Reading {
  const families = ['webhook', 'svix'].map((family) =>
    ['id', 'timestamp', 'signature'].map((name) => header(`${family}-${name}`)),
  )
  const [id, time, value] = families.find((values) => !values.includes(undefined)) ?? []
  if (id === undefined || time === undefined || value === undefined) {
    return {
      missing:
        'At least one of the headers webhook-id, webhook-timestamp and webhook-signature is missing.',
    }
  }
  const signatures = value
    .split(' ')
    .flatMap((item) => (item.startsWith('v1,') ? [item.slice(3)] : []))
  // Some senders show the version of the scheme before it: `v1,whsec_…`.
  const key = Buffer.from(secret.trim().replace(/^(?:v1,)?(?:whsec_)?/, ''), 'base64')
  return { claim: timed(decoded(signatures, 'base64'), `${id}.${plainNumber(time)}.`, time, key) }
}

function slack(header: (name: string) => string | undefined, secret: string): Reading {
  const [time, value] = [header('X-Slack-Request-Timestamp'), header('X-Slack-Signature')]
  if (time === undefined || value === undefined) {
    return {
      missing:
        'At least one of the headers X-Slack-Signature and X-Slack-Request-Timestamp is missing.',
    }
  }
  const signatures = value.startsWith('v0=') ? [value.slice(3)] : []
  return { claim: timed(decoded(signatures, 'hex'), `v0:${time}:`, time, Buffer.from(secret)) }
}

/** The libraries read the time as a number before they sign it. */
const plainNumber = (time: string) => (/^\d{1,12}$/.test(time) ? String(Number(time)) : time)

function timed(given: Buffer[], before: string, time: string, key: Buffer): Claim {
  return {
    given,
    before,
    at: /^\d{1,12}$/.test(time) ? Number(time) : NaN,
    algorithm: 'sha256',
    key,
  }
}

/**
 * @param isExact whether the text must be as the sender’s library writes it: the libraries compare
 *   texts, so that upper-case hex or missing padding is invalid there
 */
function decoded(texts: string[], encoding: 'hex' | 'base64', isExact = true): Buffer[] {
  const form = encoding === 'hex' ? /^(?:[\da-f]{2})+$/i : /^[A-Za-z0-9+/]+={0,2}$/
  return texts
    .map((text) => (isExact ? text : text.trim()))
    .filter((text) => form.test(text))
    .filter((text) => !isExact || Buffer.from(text, encoding).toString(encoding) === text)
    .map((text) => Buffer.from(text, encoding))
}

function isMatch({ given, before, algorithm, key }: Claim, body: Buffer): boolean {
  const right = createHmac(algorithm, key).update(before, 'latin1').update(body).digest()
  return given.some(
    (signature) => signature.length === right.length && timingSafeEqual(signature, right),
  )
}

function latenessOf({ at }: Claim, receivedAt: Date): string | null {
  if (at === null) return null
  if (Number.isNaN(at))
    return 'The signature matches, but its timestamp is not a number of seconds.'
  // As the libraries do, which compare whole seconds.
  const seconds = Math.floor(receivedAt.getTime() / 1000) - at
  if (Math.abs(seconds) <= TOLERANCE_SECONDS) return null
  const distance = `${Math.round(Math.abs(seconds) / 60)} minutes ${seconds > 0 ? 'before' : 'after'}`
  return `The signature matches, but its timestamp is ${distance} the request. Verification libraries allow ${TOLERANCE_SECONDS / 60} minutes.`
}

/** The usual reasons, each tried. */
function mismatchReason(
  claim: Claim,
  body: Buffer,
  secret: string,
  scheme: SignatureScheme,
  header: (name: string) => string | undefined,
): string {
  for (const [name, other] of otherBodies(body)) {
    if (isMatch(claim, other))
      return `The secret is correct, but the body was changed in transit: the signature matches ${name}.`
  }
  for (const [name, other] of otherSecrets(secret)) {
    const again = READERS[scheme.scheme](header, other, scheme)
    if ('claim' in again && isMatch(again.claim, body))
      return `The secret has a typo: the signature matches the secret ${name}.`
  }
  return MISMATCH
}

function otherBodies(body: Buffer): [string, Buffer][] {
  const text = body.toString('utf8')
  const bodies: [string, string][] = [
    ['the body without its final line break', text.replace(/\r?\n$/, '')],
    ['the body with a final line break', `${text}\n`],
    ['the body with LF line breaks', text.replaceAll('\r\n', '\n')],
    ['the body with CR LF line breaks', text.replace(/\r?\n/g, '\r\n')],
    ...rewritten(text),
  ]
  return bodies.map(([name, other]) => [name, Buffer.from(other)])
}

/** As the common libraries write JSON: JavaScript's, Python's, and escaped as PHP's. */
function rewritten(text: string): [string, string][] {
  try {
    const value: unknown = JSON.parse(text)
    const compact = JSON.stringify(value)
    return [
      ['the same JSON without spaces', compact],
      ['the same JSON indented by two spaces', JSON.stringify(value, null, 2)],
      ['the same JSON with escaped slashes', compact.replaceAll('/', '\\/')],
      [
        'the same JSON with escaped non-ASCII characters',
        compact.replace(/[\u0080-\uffff]/g, escaped),
      ],
    ]
  } catch {
    return []
  }
}

function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function otherSecrets(secret: string): [string, string][] {
  return [
    ['without surrounding spaces', secret.trim()],
    ['without the prefix “whsec_”', secret.replace(/^whsec_/, '')],
    ['with the prefix “whsec_”', `whsec_${secret}`],
  ]
}
