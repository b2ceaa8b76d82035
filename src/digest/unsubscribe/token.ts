import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Member } from '../store.ts'

const MAC_BYTES = 24
const ID_BYTES = 16

/**
 * A token that turns off one member’s digest of one workspace, without a login. It does not expire,
 * so that the link in an old email works, and allows nothing else.
 */
export function createUnsubscribeToken(secretKey: string, member: Member): string {
  const ids = idsOf(member)
  return Buffer.concat([ids, macOf(secretKey, ids)]).toString('base64url')
}

/**
 * The member that a token is for; null when it is not one of ours.
 * @param secretKeys the current key, and the previous one where there is one
 */
export function readUnsubscribeToken(secretKeys: readonly string[], token: string): Member | null {
  const bytes = Buffer.from(token, 'base64url')
  if (bytes.length !== 2 * ID_BYTES + MAC_BYTES) return null
  const ids = bytes.subarray(0, 2 * ID_BYTES)
  const mac = bytes.subarray(2 * ID_BYTES)
  if (!secretKeys.some((key) => timingSafeEqual(mac, macOf(key, ids)))) return null
  return {
    workspaceId: uuidOf(ids.subarray(0, ID_BYTES)),
    accountId: uuidOf(ids.subarray(ID_BYTES)),
  }
}

function idsOf({ workspaceId, accountId }: Member): Buffer {
  return Buffer.from(`${workspaceId}${accountId}`.replaceAll('-', ''), 'hex')
}

function macOf(secretKey: string, ids: Buffer): Buffer {
  return createHmac('sha256', `digest unsubscribe ${secretKey}`)
    .update(ids)
    .digest()
    .subarray(0, MAC_BYTES)
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
