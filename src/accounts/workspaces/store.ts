import { sql, type Transaction } from 'kysely'
import type { Plan } from '../../config.ts'
import type { Role } from '../../http/access.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'

/** An account’s place in a workspace, as requests need it. */
export type Membership = { workspaceId: string; role: Role; plan: Plan }

export type NewWorkspace = {
  /** By default a new id. The first workspace of an account has the account’s own id. */
  id?: string
  name: string
  plan: Plan
  createdBy: string
}

/** Inserts a workspace, with the account that creates it as its owner. */
export async function insertWorkspace(
  db: Transaction<DB>,
  workspace: NewWorkspace,
): Promise<{ id: string }> {
  const row = await db
    .insertInto('workspace')
    .values(workspace)
    .returning('id')
    .executeTakeFirstOrThrow()
  await insertMembership(db, { workspaceId: row.id, accountId: workspace.createdBy, role: 'owner' })
  return row
}

export async function insertMembership(
  db: Db,
  membership: { workspaceId: string; accountId: string; role: Role },
): Promise<void> {
  await db.insertInto('membership').values(membership).execute()
}

/** A membership of the account: in this workspace, or else the one it has had for longest. */
export async function findMembership(
  db: Db,
  accountId: string,
  workspaceId?: string,
): Promise<Membership | undefined> {
  let query = db
    .selectFrom('membership')
    .innerJoin('workspace', 'workspace.id', 'workspaceId')
    .select(['workspaceId', 'role', 'plan'])
    .where('accountId', '=', accountId)
    .where('deleteAfter', 'is', null)
  if (workspaceId !== undefined) query = query.where('workspaceId', '=', workspaceId)
  const row = await query
    .orderBy('membership.createdAt')
    .orderBy('workspaceId')
    .limit(1)
    .executeTakeFirst()
  return row as Membership | undefined
}

/** The name of a workspace; empty when it was deleted meanwhile. */
export async function findWorkspaceName(db: Db, id: string): Promise<string> {
  const row = await db
    .selectFrom('workspace')
    .select('name')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.name ?? ''
}

/** The workspaces that have no other member than this account. */
export async function listSoleWorkspaces(db: Db, accountId: string): Promise<string[]> {
  const { rows } = await sql<{ workspaceId: string }>`
    select workspace_id from membership where account_id = ${accountId} and not exists (
      select from membership other
      where other.workspace_id = membership.workspace_id and other.account_id <> ${accountId})`.execute(
    db,
  )
  return rows.map(({ workspaceId }) => workspaceId)
}

/** The names of the workspaces with other members, of which this account is the only owner. */
export async function listSoleOwnedNames(db: Db, accountId: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select w.name from membership m join workspace w on w.id = m.workspace_id
    where m.account_id = ${accountId} and m.role = 'owner'
      and exists (
        select from membership o where o.workspace_id = w.id and o.account_id <> ${accountId})
      and not exists (
        select from membership o
        where o.workspace_id = w.id and o.account_id <> ${accountId} and o.role = 'owner')`.execute(
    db,
  )
  return rows.map(({ name }) => name)
}

/**
 * Locks the memberships of the workspaces of an account until the transaction ends, so that members
 * neither join nor leave meanwhile.
 */
export async function lockWorkspacesOf(db: Transaction<DB>, accountId: string): Promise<void> {
  await sql`select from workspace where id in (
    select workspace_id from membership where account_id = ${accountId}) order by id for update`.execute(
    db,
  )
}

export async function deleteWorkspaces(db: Transaction<DB>, ids: string[]): Promise<void> {
  await sql`delete from workspace where id = any (${ids}::uuid[])`.execute(db)
}

/** The first workspace of each administrator of the installation. */
export async function listAdministratorWorkspaces(db: Db): Promise<string[]> {
  const { rows } = await sql<{ workspaceId: string }>`
    select distinct on (a.id) m.workspace_id from account a
    join membership m on m.account_id = a.id join workspace w on w.id = m.workspace_id
    where a.admin and w.delete_after is null
    order by a.id, m.created_at, m.workspace_id`.execute(db)
  return [...new Set(rows.map(({ workspaceId }) => workspaceId))]
}

/** Sets the plan of all workspaces that an account created. */
export async function updatePlan(db: Db, accountId: string, plan: Plan): Promise<void> {
  await db.updateTable('workspace').set({ plan }).where('createdBy', '=', accountId).execute()
}
