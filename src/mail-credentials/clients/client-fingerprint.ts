import { createHash } from 'node:crypto'
import type { MailProvider } from '../providers.ts'

/** Identifies a client with its secret or certificate, to notice that it was changed. */
export function fingerprintOf({
  clientId,
  clientSecret = '',
  clientCertificate,
  issuer,
}: MailProvider): Buffer {
  const parts = [issuer, clientId, clientSecret]
  if (clientCertificate) parts.push(clientCertificate.certificate)
  return createHash('sha256').update(JSON.stringify(parts)).digest()
}
