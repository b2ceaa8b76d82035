import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import { deleteRows, hasRow, updateRows } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'

/** Whether the account has an authenticator app that was confirmed with a code. */
export async function hasAuthenticator(db: Db, accountId: string): Promise<boolean> {
  return hasRow(db, 'twoFactor', { accountId, verified: true })
}

/**
 * Removes the authenticator app, the backup codes and the passkeys of an account, forgets the
 * browsers that may skip the code, and ends the sessions.
 */
export async function deleteSecondFactors(db: Transaction<DB>, accountId: string): Promise<void> {
  await deleteRows(db, 'twoFactor', { accountId })
  await deleteRows(db, 'passkey', { accountId })
  await updateRows(db, 'account', { id: accountId }, { twoFactorEnabled: false })
  await forgetTrustedBrowsers(db, accountId)
  await deleteRows(db, 'session', { accountId })
}

/** Ends the trust in browsers that may skip the code for 30 days. */
export async function forgetTrustedBrowsers(db: Db, accountId: string): Promise<void> {
  await sql`delete from verification where identifier like 'trust-device-%' and value = ${accountId}`.execute(
    db,
  )
}
