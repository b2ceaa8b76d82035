import { checkSignature, type SignatureVerdict } from '../../protocols/webhook-signature.ts'
import { decryptSignatureSecret } from '../endpoints/endpoints.ts'
import type { EncryptedEndpoint } from '../endpoints/endpoints.sql.ts'
import { EMAIL_METHOD } from '../email/endpoint-email.ts'
import type { RequestRow } from './captured-request.ts'

const UNREADABLE = 'The secret cannot be decrypted with this SECRET_KEY. Enter it again.'

/** Verifies the sender’s signature; null for an email, or without a scheme or secret. */
export function verifyRequestSignature(
  row: RequestRow,
  endpoint: EncryptedEndpoint,
  secretKey: string,
): SignatureVerdict | null {
  if (endpoint.signatureSecret === null || endpoint.signature === null) return null
  if (row.method === EMAIL_METHOD) return null
  const secret = decryptSignatureSecret(endpoint, secretKey)
  if (secret === null) return { status: 'unknown', reason: UNREADABLE }
  return checkSignature(endpoint.signature, secret, {
    ...row,
    truncated: row.bodySize > row.body.length,
  })
}
