import { hash, randomInt } from 'node:crypto'
import { crc32 } from 'node:zlib'

const PREFIX = 'prv_'

/** The digits of base 62, by value. */
const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** 40 digits have 238 random bits. */
const RANDOM_DIGITS = 40

/** 62^6 exceeds 2^32, so that every CRC-32 fits. */
const CHECKSUM_DIGITS = 6

/**
 * Tokens with a checksum: `prv_`, 40 random digits and the CRC-32 of these digits. docs/tokens.md has
 * this expression for secret scanners.
 */
const TOKEN = new RegExp(
  `^${PREFIX}([0-9A-Za-z]{${RANDOM_DIGITS}})([0-9A-Za-z]{${CHECKSUM_DIGITS}})$`,
)

/** Tokens of version 0.2 and older: 256 random bits in base64url, without a checksum. */
const OLD_TOKEN = /^prv_[A-Za-z0-9_-]{43}$/

/** `Authorization: Bearer prv_…` (RFC 6750; the scheme in any case). */
const BEARER = /^Bearer +(prv_[A-Za-z0-9_-]{43,46})$/i

/** A new random token. */
export function createToken(): string {
  const random = Array.from({ length: RANDOM_DIGITS }, () => BASE62[randomInt(BASE62.length)]).join(
    '',
  )
  return `${PREFIX}${random}${checksumOf(random)}`
}

/** Whether a text has the form of a token, and its checksum is correct. */
export function isToken(text: string): boolean {
  const match = TOKEN.exec(text)
  return match ? checksumOf(match[1] ?? '') === match[2] : OLD_TOKEN.test(text)
}

/** The API token in an Authorization header; null for anything that cannot be one. */
export function tokenIn(authorization: string): string | null {
  const token = BEARER.exec(authorization)?.[1]
  return token !== undefined && isToken(token) ? token : null
}

/**
 * The stored hash of a token. A slow hash protects guessable secrets; a random token does not need
 * one.
 */
export function hashToken(token: string): Buffer {
  return hash('sha256', token, 'buffer')
}

/** The CRC-32 (ISO 3309, as in zip files) of ASCII digits, in base 62 with leading zeros. */
function checksumOf(digits: string): string {
  let checksum = ''
  for (let rest = crc32(digits); checksum.length < CHECKSUM_DIGITS; rest = Math.floor(rest / 62))
    checksum = BASE62.charAt(rest % 62) + checksum
  return checksum
}
