import { hkdfSync } from 'node:crypto'

/**
 * A key of its own for each purpose (RFC 5869), so that knowing one says nothing of another.
 * @param secretKey SECRET_KEY
 * @returns 32 bytes in base64url
 */
export function deriveKey(secretKey: string, purpose: string): string {
  return Buffer.from(hkdfSync('sha256', secretKey, '', `portreeve ${purpose}`, 32)).toString('base64url')
}
