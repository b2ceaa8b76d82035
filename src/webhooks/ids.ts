import { randomBytes, randomInt } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const TOKEN_CHARS = 10

/** Generates the token in an endpoint’s URL: 59 random bits. `randomInt` avoids modulo bias. */
export function newEndpointToken(): string {
  return Array.from({ length: TOKEN_CHARS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

/** IDs for which random bytes are generated at once. */
const IDS_PER_POOL = 256
const ID_BYTES = 16

let random = Buffer.alloc(0)
let used = 0

/**
 * Generates the 16 bytes of an ID that sorts by time (RFC 9562, version 7), so that the database
 * need not.
 */
export function newRequestId(now: number): Buffer {
  if (used === random.length) {
    random = randomBytes(IDS_PER_POOL * ID_BYTES)
    used = 0
  }
  const id = random.subarray(used, (used += ID_BYTES))
  id.writeUIntBE(now, 0, 6)
  id.writeUInt8((id.readUInt8(6) & 0x0f) | 0x70, 6)
  id.writeUInt8((id.readUInt8(8) & 0x3f) | 0x80, 8)
  return id
}
