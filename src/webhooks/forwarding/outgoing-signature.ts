import { createHmac, createSecretKey, sign as signBytes, type KeyObject } from 'node:crypto'
import { createRecentEntries } from '../../recent-entries.ts'
import { digestOf, signTarget } from '../../protocols/http-signature.ts'
import type { Header } from '../headers.ts'
import { signingKeyOf, type SealedSettings } from './destination-settings.ts'
import type { Signing } from './shapes.ts'

/** What is signed of a request: its URL as it is sent. */
type SentRequest = { method: string; url: string; body: Buffer }

type SignatureOptions = {
  settings: SealedSettings
  sign: Signing
  /** Milliseconds since 1970. */
  now: number
}

const STANDARD_HEADERS = ['webhook-id', 'webhook-timestamp', 'webhook-signature']
const HTTP_HEADERS = ['webhook-id', 'content-digest', 'signature-input', 'signature']

/** Whether a header has a part of such a signature. @param name in lower case */
export function isSignatureHeader(sign: Signing, name: string): boolean {
  if (sign === 'none') return false
  return (sign === 'rfc9421' ? HTTP_HEADERS : STANDARD_HEADERS).includes(name)
}

/**
 * The headers that sign a request, with the time of this attempt: receivers refuse old signatures.
 * For a day after a rotation, there are two.
 * @param id the same for all attempts
 */
export async function signatureHeaders(
  id: string,
  request: SentRequest,
  { settings: { secret, previous }, sign, now }: SignatureOptions,
): Promise<Header[]> {
  const secrets = [secret, ...(previous && previous.until > now ? [previous.secret] : [])]
  if (sign === 'none') return []
  if (sign === 'rfc9421') return httpHeaders(id, request, secrets, now)
  return standardHeaders(id, request.body, { secrets, sign, now })
}

/** HTTP Message Signatures (RFC 9421) of method, target, id and digest of the body (RFC 9530). */
async function httpHeaders(
  id: string,
  { method, url, body }: SentRequest,
  secrets: string[],
  now: number,
): Promise<Header[]> {
  const headers = { 'content-digest': digestOf(body), 'webhook-id': id }
  const signed = await Promise.all(
    secrets.map((secret, index) =>
      signTarget(
        signingKeyOf(secret),
        { method, url, headers },
        { label: index === 0 ? 'sig' : 'previous', now },
      ),
    ),
  )
  return [
    ...Object.entries(headers),
    ['signature-input', signed.map(({ input }) => input).join(', ')],
    ['signature', signed.map(({ signature }) => signature).join(', ')],
  ]
}

function standardHeaders(
  id: string,
  body: Buffer,
  { secrets, sign, now }: { secrets: string[]; sign: Signing; now: number },
): Header[] {
  const seconds = String(Math.floor(now / 1000))
  const signed = Buffer.concat([Buffer.from(`${id}.${seconds}.`), body])
  const signatures = secrets.map((secret) => standardSignature(sign, secret, signed))
  return [
    ['webhook-id', id],
    ['webhook-timestamp', seconds],
    ['webhook-signature', signatures.join(' ')],
  ]
}

function standardSignature(sign: Signing, secret: string, signed: Buffer): string {
  if (sign === 'standard-ed25519')
    return `v1a,${signBytes(null, signed, signingKeyOf(secret).privateKey).toString('base64')}`
  return `v1,${createHmac('sha256', hmacKeyOf(secret)).update(signed).digest('base64')}`
}

/** Secrets whose key is remembered. */
const MAX_HMAC_KEYS = 1_000
const hmacKeys = createRecentEntries<KeyObject>(MAX_HMAC_KEYS)

/** Making a key takes several times as long as signing with it. */
function hmacKeyOf(secret: string): KeyObject {
  const known = hmacKeys.get(secret)
  if (known) return known
  const key = createSecretKey(Buffer.from(secret, 'base64'))
  hmacKeys.set(secret, key)
  return key
}
