import { KeyFiles } from './key-files.tsx'
import { certificate as messages } from './messages.ts'

/** A certificate with its key, in place of a client secret. */
export function CertificateField() {
  return <KeyFiles name="clientCertificate" label={messages.choose} hint={messages.drop} />
}
