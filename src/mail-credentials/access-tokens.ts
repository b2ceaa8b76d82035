import { decrypt, encrypt } from '../store/encryption.ts'
import type { EncryptedColumn } from '../store/key-rotation.ts'
import type { Checks, Tokens } from './oauth-client.ts'

/** What is encrypted of a credential. */
export type StoredTokens = Pick<Tokens, 'accessToken' | 'refreshToken'>

export function encryptTokens(
  { accessToken, refreshToken }: StoredTokens,
  secretKey: string,
  id: string,
): string {
  return encrypt(JSON.stringify({ accessToken, refreshToken }), secretKey, credentialContext(id))
}

/** @throws Fault `internal` when they were encrypted with another key */
export function decryptTokens(sealed: string, secretKey: string, id: string): StoredTokens {
  return JSON.parse(decrypt(sealed, secretKey, credentialContext(id))) as StoredTokens
}

export function encryptChecks(checks: Checks, secretKey: string, id: string): string {
  return encrypt(JSON.stringify(checks), secretKey, consentContextOf(id))
}

/** @throws Fault `internal` when they were encrypted with another key */
export function decryptChecks(sealed: string, secretKey: string, id: string): Checks {
  return JSON.parse(decrypt(sealed, secretKey, consentContextOf(id))) as Checks
}

/** Binds what is encrypted of a credential to its row. */
export const credentialContext = (id: string) => `mail_credential/${id}`
const consentContextOf = (id: string) => `mail_consent/${id}`

export const ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  { table: 'mail_credential', id: 'id', column: 'sealed', contextOf: credentialContext },
  { table: 'mail_consent', id: 'id', column: 'sealed', contextOf: consentContextOf },
]
