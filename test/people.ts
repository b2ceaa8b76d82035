import type { Kysely } from 'kysely'
import type { AccountInput } from '../src/accounts/accounts.ts'
import { hashPassword } from '../src/accounts/sign-in/password-hash.ts'
import { insertAccount, type AccountRow } from '../src/accounts/accounts.sql.ts'
import type { DB } from '../src/store/tables.ts'

/** The cost of password hashes in tests: the usual one takes 80 ms of processor time a hash. */
export const TEST_PASSWORD_COST = 2

/** The password of a test's person. */
export function passwordOf(name: string): string {
  return `the password of ${name}`
}

/** Removes all accounts, their workspaces and what is counted of them, between two tests. */
export async function removeEverybody(db: Kysely<DB>): Promise<void> {
  await db.deleteFrom('account').execute()
  await db.deleteFrom('workspace').execute()
  for (const table of ['authRateLimit', 'passwordAttempt', 'outgoingMail'] as const)
    await db.deleteFrom(table).execute()
}

/** @returns gives each person an email address, also where several have the same name */
export function createEmails(): (name: string) => string {
  const namesakes = new Map<string, number>()
  return (name) => {
    const count = (namesakes.get(name) ?? 0) + 1
    namesakes.set(name, count)
    return `${name.toLowerCase()}${count === 1 ? '' : `-${count}`}@people.test`
  }
}

/** Inserts an account that signs in with this password, without the checks of `createAccount`. */
export async function addAccount(
  db: Kysely<DB>,
  { email, password, name = '', plan, admin = false }: AccountInput,
): Promise<AccountRow> {
  const hash = await hashPassword(password, TEST_PASSWORD_COST)
  const account = { email, emailVerified: true, name, plan, admin, password: hash }
  const row = await db.transaction().execute((trx) => insertAccount(trx, account))
  if (!row) throw new Error(`there is an account with the email ${email} already`)
  return row
}
