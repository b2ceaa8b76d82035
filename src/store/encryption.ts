import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../config.ts'
import { Fault } from '../errors.ts'
import { createFile } from './file.ts'

/** Names the format and the key derivation; a later one gets a name of its own beside it. */
const VERSION = 'v1'
const CIPHER = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16

/**
 * Encrypts a text for the database (AES-256-GCM under a key derived from SECRET_KEY).
 * @param context whose secret this is, such as `migration/0190…/source`: it opens under the same
 *   context only, so that a
 *   sealed text copied into another row is of no use there
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
 * The text that `seal` was given.
 * @throws Fault `internal` when key or context differ, or the sealed text was changed
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

function encryptionKey(secretKey: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', 'portreeve seal v1', 32))
}

/**
 * SECRET_KEY, or else the key in DATA_DIR/secret.key, which is made at the first start.
 * @throws Fault `unavailable` when the file holds no key
 */
export function loadSecretKey({
  SECRET_KEY,
  DATA_DIR,
}: Pick<Config, 'SECRET_KEY' | 'DATA_DIR'>): string {
  if (SECRET_KEY) return SECRET_KEY
  const path = join(DATA_DIR, 'secret.key')
  mkdirSync(DATA_DIR, { recursive: true })
  if (!existsSync(path)) createFile(path, `${randomBytes(32).toString('base64url')}\n`, 0o600)
  const key = readFileSync(path, 'utf8').trim()
  if (key.length >= 32) return key
  throw new Fault(
    'unavailable',
    `${path} holds no key. Put back the one it held, or remove the file to begin with a new one.`,
  )
}
