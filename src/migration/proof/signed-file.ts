import {
  createHash,
  createPrivateKey,
  createPublicKey,
  sign,
  verify,
  type KeyObject,
} from 'node:crypto'
import { Fault } from '../../errors.ts'
import { PROOF_FORMAT, type ProofDocument } from './proof-document.ts'

/** What Ed25519 keys in DER begin with (RFC 8410). */
const PRIVATE_KEY_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')
const PUBLIC_KEY_PREFIX = Buffer.from('302a300506032b6570032100', 'hex')
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64

/** The key with which an installation signs proofs. */
export type ProofKey = {
  privateKey: KeyObject
  /** 32 bytes, in base64. */
  publicKey: string
  fingerprint: string
}

/**
 * Creates the key of an installation.
 * @param seed 32 bytes in base64url, derived from SECRET_KEY
 */
export function createProofKey(seed: string): ProofKey {
  const der = Buffer.concat([PRIVATE_KEY_PREFIX, Buffer.from(seed, 'base64url')])
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  const exported = createPublicKey(privateKey).export({ format: 'der', type: 'spki' })
  const bytes = exported.subarray(PUBLIC_KEY_PREFIX.length)
  return { privateKey, publicKey: bytes.toString('base64'), fingerprint: fingerprintOf(bytes) }
}

/** SHA-256 of a public key, as OpenSSH writes it. */
function fingerprintOf(publicKey: Buffer): string {
  return `SHA256:${createHash('sha256').update(publicKey).digest('base64').replace(/=+$/, '')}`
}

/**
 * Composes a signed file of two lines: the document, and its signature, which covers the first line
 * with its line feed.
 * @param document JSON without line feeds
 */
export function signFile(document: string, { privateKey, publicKey }: ProofKey): string {
  const line = `${document}\n`
  const signature = sign(null, Buffer.from(line), privateKey).toString('base64')
  return `${line}${JSON.stringify({ algorithm: 'Ed25519', publicKey, signature })}\n`
}

export type VerifiedFile = {
  document: ProofDocument
  /** SHA-256 of the document, as the proof of a batch names it. */
  digest: string
  publicKey: string
  fingerprint: string
}

/**
 * Verifies the signature of a file with the public key that it names.
 * @throws Fault `invalid_request` with the reason
 */
export function verifyFile(bytes: Buffer): VerifiedFile {
  const end = bytes.indexOf('\n')
  const [first, second] = [bytes.subarray(0, end + 1), bytes.subarray(end + 1)]
  const document = parse(end === -1 ? bytes : first) as ProofDocument | null
  if (document?.format !== PROOF_FORMAT && !beginsLikeProof(bytes))
    throw refused('The file is not a proof of Portreeve.')
  const signed = end === -1 ? null : (parse(second) as Signature | null)
  if (document === null || signed === null || !second.toString('latin1').endsWith('}\n'))
    throw refused('The file is incomplete: its end is missing. Download it again.')
  const [key, signature] = [
    decode(signed.publicKey, KEY_BYTES),
    decode(signed.signature, SIGNATURE_BYTES),
  ]
  if (signed.algorithm !== 'Ed25519' || !key || !signature)
    throw refused('The signature of the file is not readable. It was changed.')
  const publicKey = createPublicKey({
    key: Buffer.concat([PUBLIC_KEY_PREFIX, key]),
    format: 'der',
    type: 'spki',
  })
  if (!verify(null, first, publicKey, signature))
    throw refused('The file was changed after it was signed: its signature does not match.')
  return {
    document,
    digest: digestOfDocument(first.toString('utf8').trimEnd()),
    publicKey: key.toString('base64'),
    fingerprint: fingerprintOf(key),
  }
}

type Signature = { algorithm: unknown; publicKey: unknown; signature: unknown }

/** Distinguishes a proof that was cut from another file. */
function beginsLikeProof(bytes: Buffer): boolean {
  return bytes.toString('latin1', 0, 64).startsWith(`{"format":"${PROOF_FORMAT}"`)
}

function parse(bytes: Buffer): object | null {
  try {
    const value: unknown = JSON.parse(bytes.toString('utf8'))
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

function decode(text: unknown, bytes: number): Buffer | null {
  if (typeof text !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(text)) return null
  const decoded = Buffer.from(text, 'base64')
  return decoded.length === bytes ? decoded : null
}

function digestOfDocument(document: string): string {
  return createHash('sha256').update(document).digest('hex')
}

function refused(message: string): Fault {
  return new Fault('invalid_request', message)
}

/** Whether two texts are the same key or fingerprint, whatever spaces surround them. */
export function isSameKey(
  given: string,
  { publicKey, fingerprint }: Pick<VerifiedFile, 'publicKey' | 'fingerprint'>,
): boolean {
  return [publicKey, fingerprint].includes(given.trim())
}
