import { createHash } from 'node:crypto'
import type { EncryptedColumn } from '../../store/key-rotation.ts'
import { deriveKey } from '../../derive-key.ts'

/** The key of the authentication library, which signs sessions and encrypts authenticator apps. */
export function deriveAuthKey(secretKey: string): string {
  return deriveKey(secretKey, 'sessions')
}

/** The number that tells keys apart in what they encrypted. */
export function keyVersion(authKey: string): number {
  return createHash('sha256').update(authKey).digest().readUInt32BE() >>> 1
}

/** Authenticator apps and backup codes, in the library's own encryption. */
export const TWO_FACTOR_COLUMNS: EncryptedColumn[] = ['secret', 'backup_codes'].map((column) => ({
  table: 'two_factor',
  id: 'id',
  column,
  contextOf: () => '',
  cipher: { encrypt: encryptWith, decrypt: decryptWith },
}))

function keysOf(secretKey: string) {
  const authKey = deriveAuthKey(secretKey)
  const version = keyVersion(authKey)
  return { keys: new Map([[version, authKey]]), currentVersion: version }
}

async function encryptWith(text: string, secretKey: string): Promise<string> {
  const { symmetricEncrypt } = await import('better-auth/crypto')
  return symmetricEncrypt({ key: keysOf(secretKey), data: text })
}

/** @returns null when another key encrypted it */
async function decryptWith(sealed: string, secretKey: string): Promise<string | null> {
  const { symmetricDecrypt } = await import('better-auth/crypto')
  return symmetricDecrypt({ key: keysOf(secretKey), data: sealed }).catch(() => null)
}
