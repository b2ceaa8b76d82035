import { sql, type Transaction } from 'kysely'
import type { Plan } from '../config.ts'
import type { Db } from '../store/database.ts'
import { containsWords, orderTerm, type Order } from '../store/order.ts'
import type { DB } from '../store/tables.ts'
import { insertWorkspace } from './workspaces/workspaces.sql.ts'
import { deleteRows, findRow, type Row, updateRows } from '../store/row.ts'

/**
 * The data of a new account. `password` is a hash of the authentication library; null for an
 * account that signs in with OIDC only.
 */
export type NewAccount = {
  email: string
  emailVerified: boolean
  name: string
  plan: Plan
  admin: boolean
  password: string | null
}

export type AccountChange = {
  name?: string | undefined
  plan?: Plan | undefined
  admin?: boolean | undefined
}

const ACCOUNT = [
  'id',
  'email',
  'name',
  'plan',
  'admin',
  'createdAt',
  /** When an operator disabled the account; null for one in use. */
  'disabledAt',
] as const

export type AccountRow = Row<'account', typeof ACCOUNT, { plan: Plan }>

/** The id of the installation, which is created with the database. */
export async function findInstallation(db: Db): Promise<string> {
  const { id } = await db.selectFrom('installation').select('id').executeTakeFirstOrThrow()
  return id
}

export async function hasAccounts(db: Db): Promise<boolean> {
  const row = await db.selectFrom('account').select('id').limit(1).executeTakeFirst()
  return row !== undefined
}

/** Locks the table against new accounts until the transaction ends. */
export async function lockAccounts(db: Transaction<DB>): Promise<void> {
  await sql`lock table account in share row exclusive mode`.execute(db)
}

/** Inserts the account, its password and its first workspace; undefined when the email is taken. */
export async function insertAccount(
  db: Transaction<DB>,
  account: NewAccount,
): Promise<AccountRow | undefined> {
  const { password, ...person } = account
  const row = await db
    .insertInto('account')
    .values(person)
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning(ACCOUNT)
    .executeTakeFirst()
  if (!row) return undefined
  if (password !== null) await insertPassword(db, row.id, password)
  await insertWorkspace(db, {
    id: row.id,
    name: row.name || row.email,
    plan: person.plan,
    createdBy: row.id,
  })
  return row as AccountRow
}

/** Gives an account without a password one. */
async function insertPassword(db: Db, accountId: string, password: string): Promise<void> {
  const credential = { accountId, provider: 'credential', providerAccountId: accountId, password }
  await db.insertInto('credential').values(credential).execute()
}

export const ACCOUNT_ORDERS = ['createdAt', 'email', 'plan', 'admin'] as const
type AccountOrder = Order<(typeof ACCOUNT_ORDERS)[number]>

const ORDER_COLUMNS = {
  createdAt: sql`id`,
  email: sql`lower(email)`,
  plan: sql`plan`,
  admin: sql`admin`,
}

export type AccountFilter = { q?: string | undefined; order?: AccountOrder | undefined }

/** All accounts, or one page of them; oldest first unless ordered otherwise. */
export async function listAccounts(
  db: Db,
  { q = '', order = 'createdAt' }: AccountFilter = {},
  page?: { limit: number; offset: number },
): Promise<AccountRow[]> {
  const all = db
    .selectFrom('account')
    .select(ACCOUNT)
    .where(containsWords(q, ACCOUNT_TEXT))
    .orderBy(orderTerm(order, ORDER_COLUMNS))
    .orderBy('id')
  const rows = await (page ? all.limit(page.limit).offset(page.offset) : all).execute()
  return rows as AccountRow[]
}

export async function countAccounts(db: Db, q = ''): Promise<number> {
  const { count } = await db
    .selectFrom('account')
    .select(({ fn }) => fn.countAll().as('count'))
    .where(containsWords(q, ACCOUNT_TEXT))
    .executeTakeFirstOrThrow()
  return Number(count)
}

/** What a search for accounts looks into. */
const ACCOUNT_TEXT = sql`concat_ws(' ', email, name, plan)`

/** @param email lower-cased */
export async function findAccountByEmail(db: Db, email: string): Promise<AccountRow | undefined> {
  return findRow(db, 'account', ACCOUNT, { email })
}

/** The password hash of an account; undefined for an account without a password. */
export async function findPasswordHash(db: Db, accountId: string): Promise<string | undefined> {
  const row = await findRow(db, 'credential', ['password'], { accountId, provider: 'credential' })
  return row?.password ?? undefined
}

/** Records that the password was just entered in this session. */
export async function markAuthenticated(db: Db, sessionId: string): Promise<void> {
  await updateRows(db, 'session', { id: sessionId }, { authenticatedAt: new Date() })
}

export async function findEmail(db: Db, id: string): Promise<string | undefined> {
  const row = await findRow(db, 'account', ['email'], { id })
  return row?.email
}

/** The ids of the administrators who can sign in, locked until the transaction ends. */
export async function lockAdministrators(db: Transaction<DB>): Promise<string[]> {
  const rows = await db
    .selectFrom('account')
    .select('id')
    .where('admin', '=', true)
    .where('disabledAt', 'is', null)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  return rows.map(({ id }) => id)
}

export async function updateAccount(
  db: Db,
  id: string,
  change: AccountChange,
): Promise<AccountRow | undefined> {
  const row = await db
    .updateTable('account')
    .set({ ...change, updatedAt: new Date() })
    .where('id', '=', id)
    .returning(ACCOUNT)
    .executeTakeFirst()
  return row as AccountRow | undefined
}

/** Deletes an account with its sessions, credentials and tokens. */
export async function deleteAccount(db: Db, id: string): Promise<boolean> {
  return deleteRows(db, 'account', { id })
}

/**
 * Sets the hash of the password, also for an account without one, and ends the sessions that the
 * old one opened.
 */
export async function updatePassword(
  db: Transaction<DB>,
  accountId: string,
  password: string,
): Promise<void> {
  const changed = await db
    .updateTable('credential')
    .set({ password, updatedAt: new Date() })
    .where('accountId', '=', accountId)
    .where('provider', '=', 'credential')
    .returning('id')
    .executeTakeFirst()
  if (!changed) await insertPassword(db, accountId, password)
  await deleteRows(db, 'session', { accountId })
}

export async function deleteSession(db: Db, id: string): Promise<void> {
  await deleteRows(db, 'session', { id })
}

/** @param token of the session, not its cookie */
export async function deleteSessionByToken(db: Db, token: string): Promise<void> {
  await deleteRows(db, 'session', { token })
}

/** Ends the sessions of an account that were not used longest, beyond `most`. */
export async function deleteOldSessions(db: Db, accountId: string, most: number): Promise<void> {
  const old = db
    .selectFrom('session')
    .select('id')
    .where('accountId', '=', accountId)
    .orderBy('updatedAt', 'desc')
    .orderBy('id', 'desc')
    .offset(most)
  await db.deleteFrom('session').where('id', 'in', old).execute()
}

/** Disables an account and ends its sessions, or enables it. */
export async function updateDisabled(
  db: Transaction<DB>,
  accountId: string,
  disabledAt: Date | null,
): Promise<void> {
  await updateRows(db, 'account', { id: accountId }, { disabledAt })
  if (disabledAt) await deleteRows(db, 'session', { accountId })
}

/** @returns false when another account has the address */
export async function updateEmail(db: Db, accountId: string, email: string): Promise<boolean> {
  const taken = await findAccountByEmail(db, email)
  if (taken) return taken.id === accountId
  await db
    .updateTable('account')
    .set({ email, emailVerified: true, updatedAt: new Date() })
    .where('id', '=', accountId)
    .execute()
  return true
}

export async function isDisabled(db: Db, accountId: string): Promise<boolean> {
  const row = await findRow(db, 'account', ['disabledAt'], { id: accountId })
  return row !== undefined && row.disabledAt !== null
}
