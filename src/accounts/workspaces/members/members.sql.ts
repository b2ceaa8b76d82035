import type { Role } from '../../../http/access.ts'
import type { Db } from '../../../store/database.ts'
import { countRows, deleteRows, updateRows } from '../../../store/row.ts'

export type MemberRow = {
  accountId: string
  email: string
  name: string
  role: Role
  joinedAt: Date
}

function selectMembers(db: Db, workspaceId: string) {
  return db
    .selectFrom('membership')
    .innerJoin('account', 'account.id', 'accountId')
    .select(['accountId', 'email', 'account.name', 'role', 'membership.createdAt as joinedAt'])
    .where('workspaceId', '=', workspaceId)
}

/** Oldest membership first. */
export async function listMembers(db: Db, workspaceId: string): Promise<MemberRow[]> {
  const rows = await selectMembers(db, workspaceId)
    .orderBy('membership.createdAt')
    .orderBy('accountId')
    .execute()
  return rows as MemberRow[]
}

export async function findMember(
  db: Db,
  workspaceId: string,
  accountId: string,
): Promise<MemberRow | undefined> {
  const row = await selectMembers(db, workspaceId)
    .where('accountId', '=', accountId)
    .executeTakeFirst()
  return row as MemberRow | undefined
}

/** Whether a workspace has an owner besides this account who can sign in. */
export async function hasOtherOwner(
  db: Db,
  workspaceId: string,
  accountId: string,
): Promise<boolean> {
  const row = await selectMembers(db, workspaceId)
    .where('role', '=', 'owner')
    .where('accountId', '<>', accountId)
    .where('disabledAt', 'is', null)
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

export async function countMembers(db: Db, workspaceId: string): Promise<number> {
  return countRows(db, 'membership', { workspaceId })
}

export async function updateRole(
  db: Db,
  workspaceId: string,
  accountId: string,
  role: Role,
): Promise<void> {
  await updateRows(db, 'membership', { workspaceId, accountId }, { role })
}

/** Deletes a membership, with the API tokens that the account has in this workspace. */
export async function deleteMembership(
  db: Db,
  workspaceId: string,
  accountId: string,
): Promise<void> {
  await deleteRows(db, 'apiToken', { workspaceId, accountId })
  await deleteRows(db, 'membership', { workspaceId, accountId })
}
