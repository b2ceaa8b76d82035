import { createHmac, hash, randomBytes, timingSafeEqual } from 'node:crypto'
import { deriveKey } from '../../../derive-key.ts'

/** A new token of an invitation: 256 random bits. */
export function createInvitationToken(): string {
  return randomBytes(32).toString('base64url')
}

/**
 * The token as it is emailed. Nobody else learns it, also not the member who invites, so whoever has
 * it reads the mail of the invited address.
 */
export function mailedToken(token: string, secretKey: string): string {
  return `${token}.${proofOf(token, secretKey)}`
}

/**
 * Reads a token of either form.
 * @returns the hash by which the invitation is found, and whether the token was emailed; null for a
 *   token that was made up
 */
export function readToken(
  text: string,
  secretKey: string,
): { hash: Buffer; isMailed: boolean } | null {
  const [token = '', proof] = text.split('.', 2)
  if (proof !== undefined && !isEqual(proof, proofOf(token, secretKey))) return null
  // A random token needs no slow hash.
  return { hash: hashToken(token), isMailed: proof !== undefined }
}

export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

function proofOf(token: string, secretKey: string): string {
  return createHmac('sha256', deriveKey(secretKey, 'emailed invitation'))
    .update(token)
    .digest('base64url')
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)]
  return a.length === b.length && timingSafeEqual(a, b)
}
