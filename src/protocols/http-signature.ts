import {
  createHash,
  createPrivateKey,
  createPublicKey,
  randomBytes,
  type KeyObject,
} from 'node:crypto'
import { createSigner, createVerifier, httpbis } from 'http-message-signatures'

/** An Ed25519 key that signs, and its public half. */
export type SigningKey = { privateKey: KeyObject; publicKey: string; fingerprint: string }

/** A request as it is signed: the URL as the receiver knows itself. */
export type SignedRequest = { method: string; url: string; headers: Record<string, string> }
export type SignedResponse = { status: number; headers: Record<string, string>; body: string }

/** The parameters of a signature. */
type SignatureParameters = { keyId: string; created: number; nonce: string }

/** What a signature is: valid, absent, by another key, or wrong. */
export type Verification =
  | { result: 'valid'; parameters: SignatureParameters }
  | { result: 'unsigned' | 'invalid' }
  /** Well-formed, by a key that is not known: nothing of it is verified. */
  | { result: 'unknown_key'; parameters: SignatureParameters }

const ALGORITHM = 'ed25519'
const LABEL = 'sig'
/** The header of DER for an Ed25519 private key (RFC 8410, section 7) and a public one (section 4). */
const PRIVATE_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const KEY_BYTES = 32
const FINGERPRINT = /^[0-9a-f]{64}$/
/** The 64 bytes of an Ed25519 signature in base64, as the only one (RFC 9421, section 4.2). */
const SIGNATURE = /^sig=:[A-Za-z0-9+/]{86}==:$/

const REQUEST_FIELDS = ['@method', '@authority', '@path', '@query']
/** The signature of the request is signed too, so that a response belongs to one request alone. */
const REQUEST_SIGNATURE = `"signature";req;key="${LABEL}"`
const RESPONSE_FIELDS = ['@status', 'content-digest', REQUEST_SIGNATURE]
const PARAMETERS = ['created', 'nonce', 'keyid', 'alg']

/**
 * The signing key of a seed.
 * @param seed 32 bytes in base64url
 */
export function createSigningKey(seed: string): SigningKey {
  const bytes = Buffer.from(seed, 'base64url')
  const der = Buffer.concat([PRIVATE_PREFIX, bytes])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return { privateKey, publicKey: x, fingerprint: fingerprintOf(x) }
}

/** Whether a text is an Ed25519 public key: 32 bytes in base64url. */
export function isPublicKey(text: string): boolean {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === KEY_BYTES && bytes.toString('base64url') === text
}

/** The SHA-256 digest of a public key, 64 hexadecimal digits. */
export function fingerprintOf(publicKey: string): string {
  return createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('hex')
}

/**
 * Signs a request (RFC 9421) with its method, host, path, query and the named headers.
 * @returns all its headers
 */
export async function signRequest(
  key: SigningKey,
  request: SignedRequest,
  now: number,
): Promise<Record<string, string>> {
  const fields = [...REQUEST_FIELDS, ...Object.keys(request.headers)]
  const { headers } = await httpbis.signMessage({ ...configOf(key, now), fields }, request)
  return headers
}

/** A request whose target is signed as it is sent. */
type SignedTarget = { method: string; url: string; headers: Record<string, string> }

/**
 * Signs a request (RFC 9421) with its method, its whole target and the named headers.
 * @param label tells its signature from others of the request
 * @returns the values of `Signature-Input` and `Signature`
 */
export async function signTarget(
  key: SigningKey,
  request: SignedTarget,
  { label, now }: { label: string; now: number },
): Promise<{ input: string; signature: string }> {
  const fields = ['@method', '@target-uri', ...Object.keys(request.headers)]
  const config = { ...configOf(key, now), name: label, fields }
  const { headers } = await httpbis.signMessage(config, request)
  return { input: headers['Signature-Input'] ?? '', signature: headers['Signature'] ?? '' }
}

/**
 * Signs a response to a signed request, with its status and the digest of its body (RFC 9530).
 * @returns the headers to add
 */
export async function signResponse(
  key: SigningKey,
  { status, body }: { status: number; body: string },
  request: SignedRequest,
  now: number,
): Promise<Record<string, string>> {
  const message = { status, headers: { 'content-digest': digestOf(body) } }
  const config = { ...configOf(key, now), fields: RESPONSE_FIELDS }
  const { headers } = await httpbis.signMessage(config, message, request)
  return headers
}

/**
 * Verifies the signature of a request by one of these public keys.
 * @param required names of headers that must be signed
 */
export function verifyRequest(
  request: SignedRequest,
  publicKeys: readonly string[],
  required: readonly string[],
): Promise<Verification> {
  return verify(request, publicKeys, [...REQUEST_FIELDS, ...required])
}

/** Verifies the signature of a response, and the digest of its body. */
export async function verifyResponse(
  response: SignedResponse,
  request: SignedRequest,
  publicKeys: readonly string[],
): Promise<Verification> {
  const verification = await verify(response, publicKeys, ['@status', 'content-digest'], request)
  if (verification.result !== 'valid') return verification
  const isWhole = response.headers['content-digest'] === digestOf(response.body)
  const isBound = inputOf(response.headers).includes(REQUEST_SIGNATURE)
  return isWhole && isBound ? verification : { result: 'invalid' }
}

async function verify(
  message: SignedRequest | SignedResponse,
  publicKeys: readonly string[],
  requiredFields: string[],
  request?: SignedRequest,
): Promise<Verification> {
  if (message.headers['signature'] === undefined) return { result: 'unsigned' }
  if (!SIGNATURE.test(message.headers['signature'])) return { result: 'invalid' }
  // One signature alone, so that it is clear which one was verified.
  if (!/^sig=\([^)]*\)[^,]*$/.test(inputOf(message.headers))) return { result: 'invalid' }
  let parameters: SignatureParameters | undefined
  let unknown: SignatureParameters | undefined
  async function keyLookup({ keyid = '', created, nonce = '' }: LookupParameters) {
    const key = publicKeys.find((one) => fingerprintOf(one) === keyid)
    const named = { keyId: keyid, created: created?.getTime() ?? 0, nonce }
    if (key === undefined) return FINGERPRINT.test(keyid) ? unknownKey(keyid, named) : null
    parameters = named
    return verifierOf(key)
  }
  /** Used once everything but the signature itself was checked. */
  const unknownKey = (id: string, named: SignatureParameters) => ({
    id,
    algs: [ALGORITHM],
    async verify() {
      unknown = named
      return false
    },
  })
  const config = { keyLookup, requiredFields, requiredParams: PARAMETERS, notAfter: Infinity }
  const verifying =
    'status' in message
      ? httpbis.verifyMessage(config, message, request)
      : httpbis.verifyMessage(config, message)
  const isValid = await verifying.catch(() => false)
  if (isValid === true && parameters) return { result: 'valid', parameters }
  return unknown ? { result: 'unknown_key', parameters: unknown } : { result: 'invalid' }
}

type LookupParameters = { keyid?: string; created?: Date | null; nonce?: string }

const inputOf = (headers: Record<string, string>) => headers['signature-input'] ?? ''

function configOf({ privateKey, fingerprint }: SigningKey, now: number) {
  return {
    key: createSigner(privateKey, ALGORITHM, fingerprint),
    name: LABEL,
    params: PARAMETERS,
    paramValues: {
      created: new Date(now),
      nonce: randomBytes(16).toString('base64url'),
      keyid: fingerprint,
      alg: ALGORITHM,
    },
  }
}

function verifierOf(publicKey: string) {
  const der = Buffer.concat([PUBLIC_PREFIX, Buffer.from(publicKey, 'base64url')])
  const key = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return { id: fingerprintOf(publicKey), algs: [ALGORITHM], verify: createVerifier(key, ALGORITHM) }
}

/** The value of `Content-Digest` (RFC 9530). */
export const digestOf = (body: string | Buffer) =>
  `sha-256=:${createHash('sha256').update(body).digest('base64')}:`
