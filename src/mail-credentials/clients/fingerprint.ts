import { createHash } from 'node:crypto'
import type { MailProvider } from '../providers.ts'

/** Identifies a client with its secret, to notice that it was changed. */
export function fingerprintOf({ clientId, clientSecret = '', issuer }: MailProvider): Buffer {
  return createHash('sha256')
    .update(JSON.stringify([issuer, clientId, clientSecret]))
    .digest()
}
