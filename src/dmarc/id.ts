import { randomUUID } from 'node:crypto'

/**
 * A UUID that sorts by time (RFC 9562, version 7), for rows that refer to each other before they
 * are stored.
 */
export function newId(now = Date.now()): string {
  const time = now.toString(16).padStart(12, '0')
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`
}
