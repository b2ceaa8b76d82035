import { createHash } from 'node:crypto'

/** A namespace of our own, a random UUID. */
const NAMESPACE = Buffer.from('7b1f1f0e6d2f4a5e9c3b0d8f4a6e2c91', 'hex')

/** The UUID of version 5 (RFC 9562, 5.5) for a name: the same on all instances, for ever. */
export function uuidOf(name: string): string {
  const hash = createHash('sha1').update(NAMESPACE).update(name).digest().subarray(0, 16)
  hash[6] = ((hash[6] ?? 0) & 0x0f) | 0x50
  hash[8] = ((hash[8] ?? 0) & 0x3f) | 0x80
  const hex = hash.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-') // prettier-ignore
}
