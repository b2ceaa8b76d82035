import type { Kysely, Transaction } from 'kysely'
import type { Plan } from '../config.ts'
import { Fault, type FaultDetail, invalidField } from '../errors.ts'
import { isShownName } from '../http/shown-name.ts'
import { DELETION_TIMEOUT_MS, withStatementTimeout } from '../store/database.ts'
import { notifyDeletionChange } from '../store/deleted-workspaces.ts'
import type { DB } from '../store/tables.ts'
import { notifyAccountChange } from './account-changes.ts'
import {
  deleteWorkspaces,
  findMembership,
  listSoleOwnedNames,
  listSoleWorkspaces,
  listWorkspaces,
  lockMemberAccounts,
  lockWorkspacesOf,
  updatePlan,
} from './workspaces/workspaces.sql.ts'
import { notifyWorkspaceChange } from './workspaces/workspace-changes.ts'
import { isCommonPassword } from './sign-in/common-passwords.ts'
import { hashPassword } from './sign-in/password-hash.ts'
import { NAME_LENGTH, PASSWORD_LENGTH } from './shapes.ts'
import { deleteSecondFactors, forgetTrustedBrowsers } from './two-factor/two-factor.sql.ts'
import {
  deleteAccount,
  findAccountByEmail,
  hasAccounts,
  insertAccount,
  lockAccounts,
  lockAdministrators,
  updateAccount,
  updateDisabled,
  updateEmail,
  updatePassword,
  type AccountChange,
  type AccountRow,
  type NewAccount,
} from './accounts.sql.ts'

/**
 * The email addresses that the sign-in accepts. An account with any other could be created, but
 * could never be signed in to.
 */
const EMAIL =
  /^(?:[A-Za-z0-9_'+-]+\.)*[A-Za-z0-9_'+-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+[A-Za-z]{2,}$/
const EMAIL_LENGTH = 254

export type AccountInput = {
  email: string
  password: string
  name?: string | undefined
  plan: Plan
  admin?: boolean | undefined
  /**
   * Whether the address is verified. An address entered by an administrator or the operator counts
   * as verified.
   */
  emailVerified?: boolean | undefined
}

/**
 * Creates an account that signs in with this password.
 * @throws Fault `conflict` when the email is taken, `invalid_request`
 */
export async function createAccount(
  db: Kysely<DB>,
  input: AccountInput,
  passwordCost?: number,
): Promise<AccountRow> {
  const account = await prepareAccount(input, passwordCost)
  const row = await db.transaction().execute((trx) => insertAccount(trx, account))
  if (!row)
    throw new Fault('conflict', `An account with the email ${account.email} already exists.`)
  return row
}

/**
 * Creates the first account, an administrator. Of concurrent calls, exactly one succeeds.
 * @throws Fault `conflict` when an account exists, `invalid_request`
 */
export async function createFirstAccount(
  db: Kysely<DB>,
  input: Omit<AccountInput, 'plan' | 'admin'>,
  passwordCost?: number,
): Promise<AccountRow> {
  const account = await prepareAccount({ ...input, plan: 'enterprise', admin: true }, passwordCost)
  const row = await db.transaction().execute(async (trx) => {
    await lockAccounts(trx)
    return (await hasAccounts(trx)) ? undefined : insertAccount(trx, account)
  })
  if (!row) throw new Fault('conflict', 'Setup is already complete. Sign in instead.')
  return row
}

/**
 * Changes the given fields of an account, in every instance.
 * @throws Fault `not_found`; `conflict` when no administrator would be left
 */
export async function changeAccount(
  db: Kysely<DB>,
  id: string,
  change: AccountChange,
): Promise<AccountRow> {
  const row = await db.transaction().execute(async (trx) => {
    if (change.admin === false) requireAnotherAdministrator(await lockAdministrators(trx), id)
    const changed = await updateAccount(trx, id, change)
    if (change.plan !== undefined) {
      for (const workspaceId of await updatePlan(trx, id, change.plan))
        await notifyWorkspaceChange(trx, workspaceId)
    }
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
 * Sets a new password and ends all sessions of the account. Its API tokens are kept.
 * @throws Fault `not_found`, `invalid_request`
 */
export async function setPassword(
  db: Kysely<DB>,
  email: string,
  password: string,
): Promise<AccountRow> {
  requireGoodPassword(password)
  const account = await requireAccount(db, email)
  await setPasswordOf(db, account, password)
  return account
}

/**
 * Sets a new password, ends all sessions, and ends the trust in browsers that may skip the code of
 * the second factor.
 * @throws Fault `invalid_request`
 */
export async function setPasswordOf(
  db: Kysely<DB>,
  { id }: Pick<AccountRow, 'id'>,
  password: string,
  passwordCost?: number,
): Promise<void> {
  requireGoodPassword(password)
  const hash = await hashPassword(password, passwordCost)
  await db.transaction().execute(async (trx) => {
    await updatePassword(trx, id, hash)
    await forgetTrustedBrowsers(trx, id)
    await notifyAccountChange(trx, id)
  })
}

/**
 * Removes all second factors of an account, and ends its sessions. For people who lost theirs.
 * @throws Fault `not_found`
 */
export async function resetSecondFactors(db: Kysely<DB>, email: string): Promise<AccountRow> {
  const account = await requireAccount(db, email)
  await db.transaction().execute(async (trx) => {
    await deleteSecondFactors(trx, account.id)
    await notifyAccountChange(trx, account.id)
  })
  return account
}

/**
 * Disables an account or enables it again. A disabled account cannot sign in and its API tokens are
 * rejected; its data and its monitoring stay.
 * @throws Fault `not_found`; `conflict` when no administrator would be left
 */
export async function setDisabled(
  db: Kysely<DB>,
  email: string,
  isDisabled: boolean,
): Promise<AccountRow> {
  const account = await requireAccount(db, email)
  await db.transaction().execute(async (trx) => {
    if (isDisabled) requireAnotherAdministrator(await lockAdministrators(trx), account.id)
    await updateDisabled(trx, account.id, isDisabled ? new Date() : null)
    await notifyAccountChange(trx, account.id)
  })
  return account
}

/**
 * Changes the address of an account without asking its owner.
 * @throws Fault `not_found`, `invalid_request`, `conflict` when another account has it
 */
export async function setEmail(db: Kysely<DB>, email: string, to: string): Promise<AccountRow> {
  const account = await requireAccount(db, email)
  const address = requireEmail(to)
  await db.transaction().execute(async (trx) => {
    if (!(await updateEmail(trx, account.id, address)))
      throw new Fault('conflict', `An account with the email ${address} already exists.`)
    await notifyAccountChange(trx, account.id)
  })
  return { ...account, email: address }
}

/**
 * Deletes an account, and the workspaces of which it is the only member.
 * @throws Fault `not_found`; `conflict` when no administrator would be left, or when other members
 *   would be left without an owner
 */
export async function removeAccount(db: Kysely<DB>, id: string): Promise<void> {
  await withStatementTimeout(db, DELETION_TIMEOUT_MS, (connection) =>
    connection.transaction().execute(async (trx) => {
      requireAnotherAdministrator(await lockAdministrators(trx), id)
      // Before the workspaces: the account can join another one only while it is not locked.
      await lockMemberAccounts(trx, [id])
      await lockWorkspacesOf(trx, id)
      await requireOtherOwners(trx, id)
      const sole = await listSoleWorkspaces(trx, id)
      await deleteWorkspaces(trx, sole)
      for (const workspaceId of sole)
        await notifyDeletionChange(trx, { workspaceId, isDeleted: true })
      for (const { id: workspaceId } of await listWorkspaces(trx, id))
        await notifyWorkspaceChange(trx, workspaceId)
      if (!(await deleteAccount(trx, id))) notFound()
      await notifyAccountChange(trx, id)
    }),
  )
}

async function requireOtherOwners(db: Transaction<DB>, id: string): Promise<void> {
  const names = await listSoleOwnedNames(db, id)
  if (names.length === 0) return
  throw new Fault(
    'conflict',
    `This account is the only owner of ${names.map((name) => `“${name}”`).join(', ')}. Make another member an owner, or remove the other members, first.`,
  )
}

/** @throws Fault `not_found` */
export async function requireAccount(db: Kysely<DB>, email: string): Promise<AccountRow> {
  return (await findAccountByEmail(db, email.toLowerCase())) ?? notFound()
}

/**
 * Finds an account and its first workspace by the account’s email.
 * @throws Fault `not_found`
 */
export async function requireFirstWorkspace(
  db: Kysely<DB>,
  email: string,
): Promise<{ accountId: string; workspaceId: string }> {
  const { id: accountId } = await requireAccount(db, email)
  const { workspaceId } = (await findMembership(db, accountId)) ?? notFound()
  return { accountId, workspaceId }
}

/**
 * Validates the data of a new account and hashes its password.
 * @throws Fault `invalid_request` with every invalid field
 */
export async function prepareAccount(
  input: AccountInput,
  passwordCost?: number,
): Promise<NewAccount> {
  const { email, password, name = '', plan, admin = false, emailVerified = true } = input
  const details = problems(email, password, name)
  if (details.length > 0) {
    const sentence = details.map(({ path, message }) => `${path} ${message}`).join('; ')
    throw new Fault('invalid_request', `The account cannot be created: ${sentence}.`, { details })
  }
  return {
    email: email.toLowerCase(),
    emailVerified,
    name,
    plan,
    admin,
    password: await hashPassword(password, passwordCost),
  }
}

function problems(email: string, password: string, name: string): FaultDetail[] {
  const details: FaultDetail[] = []
  if (email.length > EMAIL_LENGTH || !EMAIL.test(email)) {
    details.push({ path: 'email', message: 'must be an email address such as alice@example.com' })
  }
  details.push(...passwordProblems(password))
  if (!isShownName(name, NAME_LENGTH)) {
    details.push({
      path: 'name',
      message: `must have at most ${NAME_LENGTH} characters and no control or other invisible characters`,
    })
  }
  return details
}

/**
 * @returns the address lower-cased
 * @throws Fault `invalid_request` for an address that the sign-in would not accept
 */
export function requireEmail(email: string): string {
  if (email.length <= EMAIL_LENGTH && EMAIL.test(email)) return email.toLowerCase()
  const message = 'must be an email address such as alice@example.com'
  throw invalidField('email', message)
}

function passwordProblems(password: string, path = 'password'): FaultDetail[] {
  const { minLength, maxLength } = PASSWORD_LENGTH
  if (password.length < minLength || password.length > maxLength) {
    return [{ path, message: `must have ${minLength} to ${maxLength} characters` }]
  }
  if (isCommonPassword(password))
    return [{ path, message: 'is one of the most common passwords; choose another' }]
  return []
}

/**
 * Rejects a password that is too short, too long or too common.
 * @param path name of the request field
 * @throws Fault `invalid_request`
 */
export function requireGoodPassword(password: string, path?: string): void {
  const details = passwordProblems(password, path)
  const [problem] = details
  if (problem) throw new Fault('invalid_request', `The password ${problem.message}.`, { details })
}

function requireAnotherAdministrator(administrators: string[], id: string): void {
  if (administrators.length === 1 && administrators[0] === id) {
    throw new Fault(
      'conflict',
      'This is the last administrator. Make another account an administrator first.',
    )
  }
}

function notFound(): never {
  throw new Fault('not_found', 'Account not found.')
}
