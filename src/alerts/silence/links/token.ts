import { createHmac, timingSafeEqual } from 'node:crypto'
import { LINK_LIFETIME_SECONDS } from '../limits.ts'

/** What a link in a message is for: the incident of an alert, as one channel got it. */
export type LinkSubject = { alertId: string; channelId: string }

const ID_BYTES = 16
const TIME_BYTES = 4
const MAC_BYTES = 20
const BYTES = 2 * ID_BYTES + TIME_BYTES + MAC_BYTES

/** Characters of a token: hexadecimal, which no chat reads as markup. */
export const TOKEN_LENGTH = 2 * BYTES

/**
 * A token with which anyone can act once on the incident of an alert, without a login. The alert
 * belongs to one workspace and one incident.
 * @param now milliseconds since 1970; it expires a week later
 */
export function createLinkToken(secretKey: string, subject: LinkSubject, now: number): string {
  const expiry = Buffer.alloc(TIME_BYTES)
  expiry.writeUInt32BE(Math.floor(now / 1000) + LINK_LIFETIME_SECONDS)
  const ids = Buffer.from(`${subject.alertId}${subject.channelId}`.replaceAll('-', ''), 'hex')
  const content = Buffer.concat([ids, expiry])
  return Buffer.concat([content, macOf(secretKey, content)]).toString('hex')
}

/**
 * The subject of a token and whether it has expired; null when it is not one of ours.
 * @param secretKeys the current key, and the previous one where there is one
 */
export function readLinkToken(
  secretKeys: readonly string[],
  token: string,
  now: number,
): (LinkSubject & { isExpired: boolean }) | null {
  const bytes = Buffer.from(token, 'hex')
  if (bytes.length !== BYTES || token.length !== TOKEN_LENGTH) return null
  const content = bytes.subarray(0, -MAC_BYTES)
  const mac = bytes.subarray(-MAC_BYTES)
  if (!secretKeys.some((key) => timingSafeEqual(mac, macOf(key, content)))) return null
  return {
    alertId: uuidOf(content.subarray(0, ID_BYTES)),
    channelId: uuidOf(content.subarray(ID_BYTES, 2 * ID_BYTES)),
    isExpired: content.readUInt32BE(2 * ID_BYTES) * 1000 <= now,
  }
}

function macOf(secretKey: string, content: Buffer): Buffer {
  return createHmac('sha256', `alert action link ${secretKey}`)
    .update(content)
    .digest()
    .subarray(0, MAC_BYTES)
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
