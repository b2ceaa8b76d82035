import { createHmac } from 'node:crypto'
import { deriveKey } from '../../derive-key.ts'
import type { Header } from '../headers.ts'

/** Requests that were forwarded this often are not forwarded any more. */
export const MAX_HOPS = 3

const HOPS = 'x-portreeve-hops'
const VIA = 'x-portreeve-via'
const MARK_BYTES = 9
const MARK = /^[\w-]{12}$/

/**
 * What an endpoint leaves on the requests that it forwards. It recognizes one that comes back, under
 * whatever name its own address is reached, and others learn nothing from it.
 * @returns 12 characters
 */
export function markOf(endpointId: string, secretKey: string): string {
  const key = deriveKey(secretKey, 'webhook forwarding')
  const mac = createHmac('sha256', key).update(endpointId).digest()
  return mac.subarray(0, MARK_BYTES).toString('base64url')
}

/** The marks of endpoints that forwarded a request: the newest ones, where a sender adds many. */
export function marksOf(headers: readonly Header[]): string[] {
  return headers
    .filter(([name]) => name.toLowerCase() === VIA)
    .flatMap(([, value]) => value.split(','))
    .map((mark) => mark.trim())
    .filter((mark) => MARK.test(mark))
    .slice(-MAX_HOPS)
}

/** How often installations of this service have forwarded a request. */
export function countHops(headers: readonly Header[]): number {
  const counts = headers
    .filter(([name]) => name.toLowerCase() === HOPS)
    .map(([, value]) => (/^\d{1,3}$/.test(value) ? Number(value) : MAX_HOPS))
  return Math.max(0, ...counts)
}

export function isLoopHeader(name: string): boolean {
  return [HOPS, VIA].includes(name.toLowerCase())
}

/** The headers by which loops are recognized. */
export function loopHeaders(headers: readonly Header[], mark: string): Header[] {
  return [
    ['X-Portreeve-Hops', String(countHops(headers) + 1)],
    ['X-Portreeve-Via', [...marksOf(headers), mark].join(', ')],
  ]
}
