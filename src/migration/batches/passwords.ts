import { decrypt, encrypt } from '../../store/encryption.ts'
import type { EncryptedColumn } from '../../store/key-rotation.ts'

/** The passwords of a mailbox of a batch; "" where one is missing. */
export type Passwords = { source: string; destination: string }

export function encryptPasswords(passwords: Passwords, secretKey: string, id: string): string {
  return encrypt(JSON.stringify(passwords), secretKey, contextOf(id))
}

/**
 * Decrypts the passwords of a mailbox.
 * @throws Fault `internal` when they were encrypted with another key
 */
export function decryptPasswords(sealed: string, secretKey: string, id: string): Passwords {
  return JSON.parse(decrypt(sealed, secretKey, contextOf(id))) as Passwords
}

/** Stored until the batch is finished. */
export const BATCH_ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  { table: 'batch_mailbox_secret', id: 'mailbox_id', column: 'sealed', contextOf },
]

function contextOf(id: string): string {
  return `batch_mailbox/${id}`
}
