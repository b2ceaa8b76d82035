import type { Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import { deleteRows, hasRow } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'

/** The account that an identity belongs to. An identity is the issuer and its subject. */
export type IdentityOwner = { id: string; email: string; admin: boolean; disabledAt: Date | null }

export async function findIdentityOwner(
  db: Db,
  provider: string,
  subject: string,
): Promise<IdentityOwner | undefined> {
  return db
    .selectFrom('credential')
    .innerJoin('account', 'account.id', 'credential.accountId')
    .select(['account.id', 'account.email', 'account.admin', 'account.disabledAt'])
    .where('provider', '=', provider)
    .where('providerAccountId', '=', subject)
    .executeTakeFirst()
}

/** @returns false when the identity belongs to an account already */
export async function insertIdentity(
  db: Transaction<DB> | Db,
  { accountId, provider, subject }: { accountId: string; provider: string; subject: string },
): Promise<boolean> {
  const row = await db
    .insertInto('credential')
    .values({ accountId, provider, providerAccountId: subject })
    .onConflict((conflict) => conflict.columns(['provider', 'providerAccountId']).doNothing())
    .returning('id')
    .executeTakeFirst()
  return row !== undefined
}

export async function hasIdentity(db: Db, accountId: string, provider: string): Promise<boolean> {
  return hasRow(db, 'credential', { accountId, provider })
}

export async function deleteIdentity(
  db: Db,
  accountId: string,
  provider: string,
): Promise<boolean> {
  return deleteRows(db, 'credential', { accountId, provider })
}
