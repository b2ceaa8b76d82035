import { createHmac, timingSafeEqual } from 'node:crypto'
import { deriveKey } from '../../derive-key.ts'

/** A result as a workspace received it: the workspace, the check, and the data. */
export type ReceivedResult = { workspaceId: string; check: string; data: unknown }

/**
 * Proves that this service returned a result, and when. Its owner can share the result, and cannot
 * change it.
 * @returns milliseconds since 1970, a dot, and an HMAC-SHA256 as base64url
 */
export function writeReceipt(received: ReceivedResult, secretKey: string, now: number): string {
  return `${now}.${macOf(received, secretKey, now).toString('base64url')}`
}

/** Returns when the result was given; null when the receipt does not match. */
export function readReceipt(
  receipt: string,
  received: ReceivedResult,
  secretKey: string,
): Date | null {
  const [, time, mac = ''] = /^(\d{1,15})\.([\w-]{43})$/.exec(receipt) ?? []
  if (time === undefined || isDeeperThan(received.data, MAX_DEPTH)) return null
  const isOurs = timingSafeEqual(
    Buffer.from(mac, 'base64url'),
    macOf(received, secretKey, Number(time)),
  )
  return isOurs ? new Date(Number(time)) : null
}

function macOf(
  { workspaceId, check, data }: ReceivedResult,
  secretKey: string,
  now: number,
): Buffer {
  const key = Buffer.from(deriveKey(secretKey, 'receipt v1'), 'base64url')
  return createHmac('sha256', key)
    .update(JSON.stringify([workspaceId, check, now, withSortedKeys(data)]))
    .digest()
}

/**
 * Levels of nesting. Results have at most six, but a client could send half a million and overflow
 * the stack.
 */
const MAX_DEPTH = 20

function isDeeperThan(value: unknown, depth: number): boolean {
  if (value === null || typeof value !== 'object') return false
  return depth === 0 || Object.values(value).some((part) => isDeeperThan(part, depth - 1))
}

/** The same JSON with its keys in order: programs that pass it on may write them in another. */
function withSortedKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withSortedKeys)
  if (value === null || typeof value !== 'object') return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([key, part]) => [key, withSortedKeys(part)]))
}
