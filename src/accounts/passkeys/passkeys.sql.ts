import type { Db } from '../../store/database.ts'
import type { Row } from '../../store/row.ts'

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
  return db
    .selectFrom('passkey')
    .select(PASSKEY)
    .where('accountId', '=', accountId)
    .orderBy('id')
    .execute()
}

export async function listCredentialIds(
  db: Db,
  accountId: string,
): Promise<{ credentialId: string; transports: string[] }[]> {
  return db
    .selectFrom('passkey')
    .select(['credentialId', 'transports'])
    .where('accountId', '=', accountId)
    .execute()
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
  await db
    .updateTable('passkey')
    .set({ counter, lastUsedAt: new Date() })
    .where('id', '=', id)
    .execute()
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
  const row = await db
    .deleteFrom('passkey')
    .where('id', '=', id)
    .where('accountId', '=', accountId)
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}
