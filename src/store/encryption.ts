import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { Fault } from '../errors.ts'

/** The version of format and key derivation. A later version gets a name of its own. */
const VERSION = 'v1'
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts a text for the database (AES-256-GCM with a key derived from SECRET_KEY).
 * @param context the owner of the secret, such as `migration/0190…/source`: a text copied to
 *   another row cannot be decrypted there
 * @returns `v1.` and base64url
 */
export function encrypt(text: string, secretKey: string, context: string): string {
  const nonce = randomBytes(NONCE_BYTES)
  const cipher = createCipheriv(CIPHER, encryptionKey(secretKey), nonce).setAAD(
    Buffer.from(context),
  )
  const sealed = Buffer.concat([
    nonce,
    cipher.update(text, 'utf8'),
    cipher.final(),
    cipher.getAuthTag(),
  ])
  return `${VERSION}.${sealed.toString('base64url')}`
}

/**
 * Decrypts a text of `encrypt`.
 * @throws Fault `internal` when key or context differ, or the text was changed
 */
export function decrypt(sealed: string, secretKey: string, context: string): string {
  const [version, body = ''] = sealed.split('.')
  const bytes = Buffer.from(body, 'base64url')
  try {
    if (version !== VERSION || bytes.length < NONCE_BYTES + TAG_BYTES)
      throw new Error('not a sealed text')
    const decipher = createDecipheriv(
      CIPHER,
      encryptionKey(secretKey),
      bytes.subarray(0, NONCE_BYTES),
      {
        authTagLength: TAG_BYTES,
      },
    )
    decipher.setAAD(Buffer.from(context)).setAuthTag(bytes.subarray(-TAG_BYTES))
    return (
      decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') +
      decipher.final('utf8')
    )
  } catch (cause) {
    const sentence =
      'A stored secret cannot be decrypted with this SECRET_KEY. Start with the key that encrypted it, or enter the secret again.'
    throw new Fault('internal', sentence, { cause })
  }
}

/** What a function decrypts; null where this key does not decrypt it. */
export function ifDecryptable<T>(read: () => T): T | null {
  try {
    return read()
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}

/** Decrypts a text of `encrypt`; null when this key does not decrypt it. */
export function tryDecrypt(sealed: string, secretKey: string, context: string): string | null {
  return ifDecryptable(() => decrypt(sealed, secretKey, context))
}

function encryptionKey(secretKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'portreeve seal v1', 32))
}
