import type { Kysely } from 'kysely'
import type { AccountInput } from '../src/accounts/accounts.ts'
import { hashPassword } from '../src/accounts/sign-in/password-hash.ts'
import { insertAccount, type AccountRow } from '../src/accounts/store.ts'
import type { DB } from '../src/store/tables.ts'

const hashes = new Map<string, Promise<string>>()

/**
 * The password of a test's person. Alice1 and Alice2 have the same one, so that it is hashed once.
 */
export function passwordOf(name: string): string {
  return `the password of ${name.replace(/\d+$/, '')}`
}

/**
 * Inserts an account that signs in with this password, without the checks of `createAccount`. Hashes
 * each password once per test file, which takes a tenth of a second of processor time.
 */
export async function addAccount(
  db: Kysely<DB>,
  { email, password, name = '', plan, admin = false }: AccountInput,
): Promise<AccountRow> {
  if (!hashes.has(password)) hashes.set(password, hashPassword(password))
  const hash = await hashes.get(password)!
  const account = { email, emailVerified: true, name, plan, admin, password: hash }
  const row = await db.transaction().execute((trx) => insertAccount(trx, account))
  if (!row) throw new Error(`there is an account with the email ${email} already`)
  return row
}
