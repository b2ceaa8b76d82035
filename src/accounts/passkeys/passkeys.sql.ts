import type { Db } from '../../store/database.ts'
import { deleteRows, listRows, type Row, updateRows } from '../../store/row.ts'

/** What a signature is verified with. */
export type PasskeyCredential = {
  id: string
  accountId: string
  email: string
  credentialId: string
  publicKey: Buffer
  counter: number
  transports: string[]
}

export type NewPasskey = Omit<PasskeyCredential, 'id' | 'email'> & {
  name: string
  isBackedUp: boolean
}

const PASSKEY = ['id', 'name', 'isBackedUp', 'createdAt', 'lastUsedAt'] as const

export type PasskeyRow = Row<'passkey', typeof PASSKEY>

/** @returns undefined when the passkey is registered already */
export async function insertPasskey(db: Db, passkey: NewPasskey): Promise<PasskeyRow | undefined> {
  return db
    .insertInto('passkey')
    .values(passkey)
    .onConflict((conflict) => conflict.column('credentialId').doNothing())
    .returning(PASSKEY)
    .executeTakeFirst()
}

/** Oldest first. */
export async function listPasskeys(db: Db, accountId: string): Promise<PasskeyRow[]> {
  return listRows(db, 'passkey', PASSKEY, { accountId }, 'id')
}

export async function listCredentialIds(
  db: Db,
  accountId: string,
): Promise<{ credentialId: string; transports: string[] }[]> {
  return listRows(db, 'passkey', ['credentialId', 'transports'], { accountId })
}

export async function findPasskey(
  db: Db,
  credentialId: string,
): Promise<PasskeyCredential | undefined> {
  return db
    .selectFrom('passkey')
    .innerJoin('account', 'account.id', 'passkey.accountId')
    .select([
      'passkey.id',
      'passkey.accountId',
      'account.email',
      'credentialId',
      'publicKey',
      'counter',
      'transports',
    ])
    .where('credentialId', '=', credentialId)
    .executeTakeFirst()
}

export async function markPasskeyUsed(db: Db, id: string, counter: number): Promise<void> {
  await updateRows(db, 'passkey', { id }, { counter, lastUsedAt: new Date() })
}

export async function renamePasskey(
  db: Db,
  accountId: string,
  id: string,
  name: string,
): Promise<PasskeyRow | undefined> {
  return db
    .updateTable('passkey')
    .set({ name })
    .where('id', '=', id)
    .where('accountId', '=', accountId)
    .returning(PASSKEY)
    .executeTakeFirst()
}

export async function deletePasskey(db: Db, accountId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'passkey', { id, accountId })
}
