import type { Kysely } from 'kysely'
import type { Plan } from '../config.ts'
import { Fault, type FaultDetail } from '../errors.ts'
import { DELETION_TIMEOUT_MS, withStatementTimeout } from '../store/database.ts'
import type { DB } from '../store/tables.ts'
import { notifyAccountChange } from './account-changes.ts'
import { isCommonPassword } from './common-passwords.ts'
import { hashPassword } from './password-hash.ts'
import { isPlainText, NAME_LENGTH, PASSWORD_LENGTH } from './shapes.ts'
import {
  deleteAccount,
  findAccountByEmail,
  hasAccounts,
  insertAccount,
  lockAccounts,
  lockAdministrators,
  updateAccount,
  updatePassword,
  type AccountChange,
  type AccountRow,
  type NewAccount,
} from './store.ts'

/** The addresses the sign-in takes: an account with another could be made, but never signed in to. */
const EMAIL = /^(?:[A-Za-z0-9_'+-]+\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/
const EMAIL_LENGTH = 254

export type AccountInput = {
  email: string
  password: string
  name?: string | undefined
  plan: Plan
  admin?: boolean | undefined
  /** Whether the address is known to be the person's own; it is where an administrator or the operator entered it. */
  emailVerified?: boolean | undefined
}

/**
 * Makes an account that signs in with this password.
 * @throws Fault `conflict` when the e-mail is taken, `invalid_request`
 */
export async function createAccount(db: Kysely<DB>, input: AccountInput): Promise<AccountRow> {
  const account = await prepareAccount(input)
  const row = await db.transaction().execute((trx) => insertAccount(trx, account))
  if (!row) throw new Fault('conflict', `There is already an account for ${account.email}.`)
  return row
}

/**
 * Makes the first account, an administrator. Of any number at once, one succeeds.
 * @throws Fault `conflict` when there is an account, `invalid_request`
 */
export async function createFirstAccount(
  db: Kysely<DB>,
  input: Omit<AccountInput, 'plan' | 'admin'>,
): Promise<AccountRow> {
  const account = await prepareAccount({ ...input, plan: 'enterprise', admin: true })
  const row = await db.transaction().execute(async (trx) => {
    await lockAccounts(trx)
    return (await hasAccounts(trx)) ? undefined : insertAccount(trx, account)
  })
  if (!row) throw new Fault('conflict', 'This service is set up already. Sign in instead.')
  return row
}

/**
 * Changes the given fields; takes effect in every instance.
 * @throws Fault `not_found`; `conflict` when no administrator would be left
 */
export async function changeAccount(db: Kysely<DB>, id: string, change: AccountChange): Promise<AccountRow> {
  const row = await db.transaction().execute(async (trx) => {
    if (change.admin === false) requireAnotherAdministrator(await lockAdministrators(trx), id)
    const changed = await updateAccount(trx, id, change)
    await notifyAccountChange(trx, id)
    return changed
  })
  return row ?? notFound()
}

/** @throws Fault `not_found` */
export async function setPlan(db: Kysely<DB>, email: string, plan: Plan): Promise<AccountRow> {
  const account = await requireAccount(db, email)
  return changeAccount(db, account.id, { plan })
}

/**
 * Gives an account another password and ends its sessions; its API tokens stay.
 * @throws Fault `not_found`, `invalid_request`
 */
export async function setPassword(db: Kysely<DB>, email: string, password: string): Promise<AccountRow> {
  requireGoodPassword(password)
  const account = await requireAccount(db, email)
  const hash = await hashPassword(password)
  await db.transaction().execute(async (trx) => {
    await updatePassword(trx, account.id, hash)
    await notifyAccountChange(trx, account.id)
  })
  return account
}

/**
 * Deletes an account with all it owns.
 * @throws Fault `not_found`; `conflict` when no administrator would be left
 */
export async function removeAccount(db: Kysely<DB>, id: string): Promise<void> {
  await withStatementTimeout(db, DELETION_TIMEOUT_MS, (connection) =>
    connection.transaction().execute(async (trx) => {
      requireAnotherAdministrator(await lockAdministrators(trx), id)
      if (!(await deleteAccount(trx, id))) notFound()
      await notifyAccountChange(trx, id)
    }),
  )
}

/** @throws Fault `not_found` */
export async function requireAccount(db: Kysely<DB>, email: string): Promise<AccountRow> {
  return (await findAccountByEmail(db, email.toLowerCase())) ?? notFound()
}

/**
 * Checks what makes an account, and hashes its password.
 * @throws Fault `invalid_request` that names every field that is wrong
 */
export async function prepareAccount(input: AccountInput): Promise<NewAccount> {
  const { email, password, name = '', plan, admin = false, emailVerified = true } = input
  const details = problems(email, password, name)
  if (details.length > 0) {
    const sentence = details.map(({ path, message }) => `${path} ${message}`).join('; ')
    throw new Fault('invalid_request', `This account cannot be made: ${sentence}.`, { details })
  }
  return { email: email.toLowerCase(), emailVerified, name, plan, admin, password: await hashPassword(password) }
}

function problems(email: string, password: string, name: string): FaultDetail[] {
  const details: FaultDetail[] = []
  if (email.length > EMAIL_LENGTH || !EMAIL.test(email)) {
    details.push({ path: 'email', message: 'must be an e-mail address such as alice@example.com' })
  }
  details.push(...passwordProblems(password))
  if (!isPlainText(name, NAME_LENGTH)) {
    details.push({ path: 'name', message: `must have at most ${NAME_LENGTH} characters and no control characters` })
  }
  return details
}

function passwordProblems(password: string, path = 'password'): FaultDetail[] {
  const { minLength, maxLength } = PASSWORD_LENGTH
  if (password.length < minLength || password.length > maxLength) {
    return [{ path, message: `must have ${minLength} to ${maxLength} characters` }]
  }
  if (isCommonPassword(password)) return [{ path, message: 'is one of the most common passwords; choose another' }]
  return []
}

/**
 * Refuses a password that is too short, too long or too common.
 * @param path the field it was given in
 * @throws Fault `invalid_request`
 */
export function requireGoodPassword(password: string, path?: string): void {
  const details = passwordProblems(password, path)
  const [problem] = details
  if (problem) throw new Fault('invalid_request', `The password ${problem.message}.`, { details })
}

function requireAnotherAdministrator(administrators: string[], id: string): void {
  if (administrators.length === 1 && administrators[0] === id) {
    throw new Fault('conflict', 'This is the last administrator. Make another one first.')
  }
}

function notFound(): never {
  throw new Fault('not_found', 'There is no such account.')
}
