import { sql, type InsertObject } from 'kysely'
import type { Scope } from '../../http/access.ts'
import type { Db } from '../../store/database.ts'
import { insertRow, type Row } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'
import type { AccountRow } from '../accounts.sql.ts'
import type { Membership } from '../workspaces/workspaces.sql.ts'

const TOKEN = [
  'apiToken.id',
  'apiToken.label',
  'apiToken.lastFour',
  'apiToken.scopes',
  'apiToken.createdAt',
  /** Null for a token that does not expire. */
  'apiToken.expiresAt',
  'apiToken.lastUsedAt',
] as const

export type TokenRow = Row<'apiToken', typeof TOKEN, { scopes: Scope[] | null }>

/** A token with the account that created it. */
export type ListedToken = TokenRow & {
  createdBy: { accountId: string; name: string; email: string }
}

export type DeletedToken = {
  accountId: string
  workspaceId: string
  label: string
  lastFour: string
}

export async function insertToken(db: Db, token: InsertObject<DB, 'apiToken'>): Promise<TokenRow> {
  return insertRow(db, 'apiToken', token, TOKEN)
}

/** The tokens of a workspace, or only those that one account created there; newest first. */
export async function listTokens(
  db: Db,
  workspaceId: string,
  accountId?: string,
): Promise<ListedToken[]> {
  let query = db
    .selectFrom('apiToken')
    .innerJoin('account', 'account.id', 'apiToken.accountId')
    .select([...TOKEN, 'apiToken.accountId', 'account.name', 'account.email'])
    .where('workspaceId', '=', workspaceId)
  if (accountId !== undefined) query = query.where('accountId', '=', accountId)
  const rows = await query.orderBy('apiToken.id', 'desc').execute()
  return rows.map(({ accountId: id, name, email, ...token }) => ({
    ...(token as TokenRow),
    createdBy: { accountId: id, name, email },
  }))
}

/**
 * Locks a membership against its end, and its workspace against other new tokens, until the
 * transaction ends.
 * @returns whether the account is a member
 */
export async function lockMembership(
  db: Db,
  { accountId, workspaceId }: { accountId: string; workspaceId: string },
): Promise<boolean> {
  const { rows } = await sql`
    select from workspace w join membership m on m.workspace_id = w.id
    where w.id = ${workspaceId} and m.account_id = ${accountId} and w.delete_after is null
    for no key update of w for key share of m`.execute(db)
  return rows.length > 0
}

/** Tokens of a workspace that have not expired. */
export async function countActiveTokens(db: Db, workspaceId: string): Promise<number> {
  const { count } = await db
    .selectFrom('apiToken')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('workspaceId', '=', workspaceId)
    .where(isActive)
    .executeTakeFirstOrThrow()
  return Number(count)
}

const isActive = sql<boolean>`(expires_at is null or expires_at > now())`

export async function deleteToken(
  db: Db,
  id: string,
  { workspaceId, accountId }: { workspaceId?: string; accountId?: string },
): Promise<DeletedToken | undefined> {
  let query = db.deleteFrom('apiToken').where('id', '=', id)
  if (workspaceId !== undefined) query = query.where('workspaceId', '=', workspaceId)
  if (accountId !== undefined) query = query.where('accountId', '=', accountId)
  return query.returning(['accountId', 'workspaceId', 'label', 'lastFour']).executeTakeFirst()
}

/** A token with its account and workspace, and the role of that account there. */
export type TokenOwner = Omit<AccountRow, 'createdAt' | 'disabledAt'> &
  Membership & {
    tokenId: string
    tokenLabel: string
    scopes: Scope[] | null
    /** Milliseconds; null for a token that does not expire. */
    expiresInMs: number | null
  }

/**
 * Finds a token that is in use, by its SHA-256. The role is the one that its account has now:
 * tokens end with the membership.
 */
export async function findTokenOwner(db: Db, hash: Buffer): Promise<TokenOwner | undefined> {
  const row = await db
    .selectFrom('apiToken')
    .innerJoin('account', 'account.id', 'apiToken.accountId')
    .innerJoin('membership', (join) =>
      join
        .onRef('membership.accountId', '=', 'apiToken.accountId')
        .onRef('membership.workspaceId', '=', 'apiToken.workspaceId'),
    )
    .innerJoin('workspace', 'workspace.id', 'apiToken.workspaceId')
    .select(['apiToken.id as tokenId', 'apiToken.label as tokenLabel', 'scopes', 'role'])
    .select(
      sql<number | null>`extract(epoch from expires_at - now())::float8 * 1000`.as('expiresInMs'),
    )
    .select(['account.id', 'email', 'account.name', 'admin'])
    .select(['workspace.id as workspaceId', 'responsibleId', 'workspace.plan'])
    .where('hash', '=', hash)
    .where('disabledAt', 'is', null)
    .where('deleteAfter', 'is', null)
    .where(isActive)
    .executeTakeFirst()
  return row as TokenOwner | undefined
}

export async function markTokensUsed(db: Db, ids: string[], at: Date): Promise<void> {
  await db.updateTable('apiToken').set({ lastUsedAt: at }).where('id', 'in', ids).execute()
}
