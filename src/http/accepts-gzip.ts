import type { IncomingHttpHeaders } from 'node:http'

/** Whether a client accepts gzip (RFC 9110, 12.5.3). */
export function acceptsGzip(headers: IncomingHttpHeaders): boolean {
  return /\bgzip\b(?!\s*;\s*q=0(\.0*)?(,|$))/.test(headers['accept-encoding'] ?? '')
}
