import { createHash, createHmac } from 'node:crypto'
import { defineSignedToken } from '../../signed-token.ts'

const MAC_BYTES = 24

/**
 * Opts one address out. It does not expire, so that the link in an old email works, and allows
 * nothing else. Its key stays the same when SECRET_KEY changes.
 */
const optOutToken = defineSignedToken({
  purpose: 'opt-out of abuse emails',
  fields: { email: 'text' },
  macBytes: MAC_BYTES,
  encoding: 'base64url',
  earlierMac: (key, content) => createHmac('sha256', key).update(content),
})

export const createOptOutToken = (key: string, email: string): string =>
  optOutToken.create(key, { email })

/** The address that a token is for; null when it is not one of ours. */
export function readOptOutToken(key: string, token: string): string | null {
  // Earlier versions wrote the signature first.
  const bytes = Buffer.from(token, 'base64url')
  const turned = Buffer.concat([bytes.subarray(MAC_BYTES), bytes.subarray(0, MAC_BYTES)])
  const read = (text: string) => optOutToken.read([key], text)?.email
  return read(token) ?? read(turned.toString('base64url')) ?? null
}

/** What is stored of an address that opted out. */
export function hashEmail(email: string): Buffer {
  return createHash('sha256').update(email.trim().toLowerCase()).digest()
}
