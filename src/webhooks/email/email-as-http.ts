import type { Header } from '../headers.ts'
import { EMAIL_METHOD, EMAIL_TYPE } from './endpoint-email.ts'

/**
 * A captured email as a request that HTTP servers know: the raw mail in a POST. Its own header fields
 * are no headers of that request. Every other request stays as it is.
 */
export function emailAsHttp<T extends { method: string; headers: Header[] }>(request: T): T {
  if (request.method !== EMAIL_METHOD) return request
  return { ...request, method: 'POST', headers: [['Content-Type', EMAIL_TYPE]] }
}
