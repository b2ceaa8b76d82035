import { randomBytes } from 'node:crypto'
import { Fault } from '../../errors.ts'
import type { Db } from '../../store/database.ts'
import { encrypt, decrypt } from '../../store/encryption.ts'
import { insertResponseSecret, type EncryptedEndpoint } from './endpoints.sql.ts'

const SECRET_BYTES = 32

/** The encryption context of response secrets. */
export function responseSecretContext(id: string): string {
  return `webhook/${id}/response`
}

/**
 * Returns the secret that responses are signed with, and generates it if there is none. All
 * instances get the same one.
 */
export async function ensureResponseSecret(
  db: Db,
  { id, responseSecret }: Pick<EncryptedEndpoint, 'id' | 'responseSecret'>,
  secretKey: string,
): Promise<string> {
  const encrypted =
    responseSecret ??
    (await insertResponseSecret(db, id, encrypt(newSecret(), secretKey, responseSecretContext(id))))
  return decrypt(encrypted, secretKey, responseSecretContext(id))
}

/** With one secret for both, any sender could request a signature that then verifies. */
export function sameSecretFault(path: string): Fault {
  const message = 'must differ between verifying senders and signing responses'
  const sentence =
    'The same secret cannot verify senders and sign responses: any sender could request a valid signature.'
  return new Fault('invalid_request', sentence, { details: [{ path, message }] })
}

export function newSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}
