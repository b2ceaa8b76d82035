import { hkdfSync } from 'node:crypto'

/**
 * Derives a separate key for each purpose (HKDF, RFC 5869), so that one key reveals nothing about
 * another.
 * @param secretKey SECRET_KEY
 * @returns 32 bytes in base64url
 */
export function deriveKey(secretKey: string, purpose: string): string {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `portreeve ${purpose}`, 32)).toString(
    'base64url',
  )
}
