import { createHash, randomBytes } from 'node:crypto'

const BYTES = 32

/** Characters of a token. */
export const TOKEN_LENGTH = Math.ceil((BYTES * 4) / 3)

/** A new token of a link, and its hash, which is all that is stored. */
export function createOwnerToken(): { token: string; hash: Buffer } {
  const token = randomBytes(BYTES).toString('base64url')
  return { token, hash: hashOfToken(token) }
}

export function hashOfToken(token: string): Buffer {
  return createHash('sha256').update(token).digest()
}
