import { checkSignature, type SignatureVerdict } from '../../protocols/webhook-signature.ts'
import { secretOf } from '../endpoints/endpoints.ts'
import type { EncryptedEndpoint } from '../endpoints/store.ts'
import type { RequestRow } from './store.ts'

/** Whether the sender's signature holds; null when the endpoint has no scheme and secret. */
export function signatureOf(row: RequestRow, endpoint: EncryptedEndpoint, secretKey: string): SignatureVerdict | null {
  const secret = secretOf(endpoint, secretKey)
  if (secret === null || endpoint.signature === null) return null
  return checkSignature(endpoint.signature, secret, { ...row, truncated: row.bodySize > row.body.length })
}
