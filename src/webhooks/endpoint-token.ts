import { randomInt } from 'node:crypto'

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const TOKEN_CHARS = 10

/** Generates the token in an endpoint’s URL: 59 random bits. `randomInt` avoids modulo bias. */
export function newEndpointToken(): string {
  return Array.from({ length: TOKEN_CHARS }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
}
