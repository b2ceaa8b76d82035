import { createHash, createHmac, timingSafeEqual } from 'node:crypto'

const MAC_BYTES = 24

/**
 * A token that opts one address out, without a login. It does not expire, so that the link in an
 * old email works, and allows nothing else.
 * @param key stays the same when SECRET_KEY changes
 */
export function createOptOutToken(key: string, email: string): string {
  const bytes = Buffer.from(email)
  return Buffer.concat([macOf(key, bytes), bytes]).toString('base64url')
}

/** The address that a token is for; null when it is not one of ours. */
export function readOptOutToken(key: string, token: string): string | null {
  const bytes = Buffer.from(token, 'base64url')
  const [mac, email] = [bytes.subarray(0, MAC_BYTES), bytes.subarray(MAC_BYTES)]
  if (email.length === 0 || mac.length !== MAC_BYTES) return null
  return timingSafeEqual(mac, macOf(key, email)) ? email.toString() : null
}

/** What is stored of an address that opted out. */
export function hashEmail(email: string): Buffer {
  return createHash('sha256').update(email.trim().toLowerCase()).digest()
}

function macOf(key: string, email: Buffer): Buffer {
  return createHmac('sha256', key).update(email).digest().subarray(0, MAC_BYTES)
}
