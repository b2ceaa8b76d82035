// What the digest needs of accounts: its recipient, and the API tokens that expire.
import { sql } from 'kysely'
import type { Role } from '../http/access.ts'
import { boundedOf, type Bounded, type Period } from '../store/bounded.ts'
import type { Db } from '../store/database.ts'

/** A member as the recipient of emails about a workspace. */
export type Recipient = {
  email: string
  isVerified: boolean
  isDisabled: boolean
  role: Role
  workspace: string
  /** The workspace is deleted, and only kept so that an owner can restore it. */
  isDeleted: boolean
}

/** Undefined when the account is not a member. */
export async function findRecipient(
  db: Db,
  workspaceId: string,
  accountId: string,
): Promise<Recipient | undefined> {
  const { rows } = await sql<Recipient>`
    select a.email, a.email_verified as is_verified, a.disabled_at is not null as is_disabled, m.role,
      w.name as workspace, w.delete_after is not null as is_deleted
    from membership m join account a on a.id = m.account_id join workspace w on w.id = m.workspace_id
    where m.workspace_id = ${workspaceId} and m.account_id = ${accountId}`.execute(db)
  return rows[0]
}

export type ExpiringToken = { id: string; label: string; lastFour: string; expiresAt: Date }

/** API tokens of an account in a workspace that expire in the period, the next one first. */
export async function listExpiringTokens(
  db: Db,
  { workspaceId, accountId }: { workspaceId: string; accountId: string },
  { from, to }: Period,
  limit: number,
): Promise<Bounded<ExpiringToken>> {
  const { rows } = await sql<ExpiringToken & { total: number }>`
    select id, label, last_four, expires_at, count(*) over ()::int as total from api_token
    where workspace_id = ${workspaceId} and account_id = ${accountId}
      and expires_at >= ${from} and expires_at < ${to}
    order by expires_at, id limit ${limit}`.execute(db)
  return boundedOf(rows)
}
