import { randomInt } from 'node:crypto'

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'
const TOKEN_CHARS = 16
const LOCAL_PART = /^h([a-z2-7]{16})$/

/** The method of a captured email. */
export const EMAIL_METHOD = 'EMAIL'

/** The media type of a captured email. */
export const EMAIL_TYPE = 'message/rfc822'

/** Generates the secret part of an address: 80 random bits, others than those of the URL. */
export function newEmailToken(): string {
  return Array.from({ length: TOKEN_CHARS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}

/** The address of an endpoint: `h` and 16 letters and digits, at the domain of report addresses. */
export function emailAddressOf(token: string, domain: string): string {
  return `h${token}@${domain}`
}

/** The secret part of an address in lower case; null for an address that is none of an endpoint. */
export function emailTokenOf(address: string, domain: string): string | null {
  const at = address.lastIndexOf('@')
  if (address.slice(at + 1) !== domain) return null
  return LOCAL_PART.exec(address.slice(0, Math.max(0, at)))?.[1] ?? null
}
