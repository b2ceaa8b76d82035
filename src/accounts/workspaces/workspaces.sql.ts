import { sql, type Transaction } from 'kysely'
import type { Plan } from '../../config.ts'
import type { Role } from '../../http/access.ts'
import type { Db } from '../../store/database.ts'
import { countRows, findRow, insertRow, updateRows } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'

/** An account’s place in a workspace, as requests need it. */
export type Membership = {
  workspaceId: string
  /** The account that answers for the workspace: see `responsibleFor`. */
  responsibleId: string
  role: Role
  plan: Plan
}

export type NewWorkspace = {
  /** By default a new id. The first workspace of an account has the account’s own id. */
  id?: string
  name: string
  plan: Plan
  /** Its owner. The column is for the version before: see `responsibleFor`. */
  createdBy: string
}

/** Inserts a workspace, with the account that creates it as its owner. */
export async function insertWorkspace(
  db: Transaction<DB>,
  workspace: NewWorkspace,
): Promise<{ id: string }> {
  const row = await insertRow(db, 'workspace', workspace, ['id'])
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
    .select(['workspaceId', 'responsibleId', 'role', 'plan'])
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

/**
 * The names of the workspaces with other members, of which this account is the only owner. Deleted
 * ones do not need an owner any more.
 */
export async function listSoleOwnedNames(db: Db, accountId: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select w.name from membership m join workspace w on w.id = m.workspace_id
    where m.account_id = ${accountId} and m.role = 'owner' and w.delete_after is null
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

/**
 * Sets the plan of all workspaces that an account answers for.
 * @returns their ids
 */
export async function updatePlan(db: Db, accountId: string, plan: Plan): Promise<string[]> {
  const rows = await db
    .updateTable('workspace')
    .set({ plan })
    .where('responsibleId', '=', accountId)
    .returning('id')
    .execute()
  return rows.map(({ id }) => id)
}

export type WorkspaceRow = {
  id: string
  name: string
  role: Role
  plan: Plan
  members: number
  createdAt: Date
  deleteAfter: Date | null
}

const MEMBER_COUNT = sql<number>`(
  select count(*)::int from membership m where m.workspace_id = workspace.id)`

function selectWorkspacesOf(db: Db, accountId: string) {
  return db
    .selectFrom('membership')
    .innerJoin('workspace', 'workspace.id', 'workspaceId')
    .select(['workspace.id', 'name', 'role', 'plan', 'workspace.createdAt', 'deleteAfter'])
    .select(MEMBER_COUNT.as('members'))
    .where('accountId', '=', accountId)
}

/** The workspaces of an account, oldest membership first; deleted ones only where it is an owner. */
export async function listWorkspaces(db: Db, accountId: string): Promise<WorkspaceRow[]> {
  const rows = await selectWorkspacesOf(db, accountId)
    .where((eb) => eb.or([eb('deleteAfter', 'is', null), eb('role', '=', 'owner')]))
    .orderBy('membership.createdAt')
    .orderBy('workspaceId')
    .execute()
  return rows as WorkspaceRow[]
}

/** A workspace of an account, deleted or not. */
export async function findWorkspaceOf(
  db: Db,
  accountId: string,
  id: string,
): Promise<WorkspaceRow | undefined> {
  const row = await selectWorkspacesOf(db, accountId)
    .where('workspaceId', '=', id)
    .executeTakeFirst()
  return row as WorkspaceRow | undefined
}

export async function findWorkspaceName(db: Db, id: string): Promise<string | undefined> {
  const row = await findRow(db, 'workspace', ['name'], { id })
  return row?.name
}

export type LockedWorkspace = {
  id: string
  name: string
  responsibleId: string
  deleteAfter: Date | null
}

/**
 * Locks a workspace until the transaction ends, so that its members, invitations and deletion
 * change one after another. Lock accounts first.
 */
export async function lockWorkspace(
  db: Transaction<DB>,
  id: string,
): Promise<LockedWorkspace | undefined> {
  const row = await db
    .selectFrom('workspace')
    .select(['id', 'name', 'responsibleId', 'deleteAfter'])
    .where('id', '=', id)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return row as LockedWorkspace | undefined
}

export type LockedAccount = {
  id: string
  email: string
  emailVerified: boolean
  name: string
  plan: Plan
}

/**
 * Locks accounts until the transaction ends, so that the workspaces of each change one after
 * another. Before any workspace is locked, because locks in another order could wait for each other.
 */
export async function lockMemberAccounts(
  db: Transaction<DB>,
  ids: string[],
): Promise<LockedAccount[]> {
  if (ids.length === 0) return []
  const rows = await db
    .selectFrom('account')
    .select(['id', 'email', 'emailVerified', 'name', 'plan'])
    .where('id', 'in', ids)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute()
  return rows as LockedAccount[]
}

/** Counts the workspaces that an account owns, with deleted ones that still exist. */
export async function countOwned(db: Db, accountId: string): Promise<number> {
  return countRows(db, 'membership', { accountId, role: 'owner' })
}

/** Counts the deleted workspaces, which still exist, that an account answers for. */
export async function countDeleted(db: Db, responsibleId: string): Promise<number> {
  const { count } = await db
    .selectFrom('workspace')
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('responsibleId', '=', responsibleId)
    .where('deleteAfter', 'is not', null)
    .executeTakeFirstOrThrow()
  return count
}

export async function updateWorkspace(
  db: Db,
  id: string,
  change: { name?: string; plan?: Plan; deleteAfter?: Date | null },
): Promise<boolean> {
  return updateRows(db, 'workspace', { id }, change)
}

/** The deleted workspaces that nobody can restore any more, those deleted first at the front. */
export async function listExpiredWorkspaces(db: Db, before: Date): Promise<string[]> {
  const rows = await db
    .selectFrom('workspace')
    .select('id')
    .where('deleteAfter', '<', before)
    .orderBy('deleteAfter')
    .execute()
  return rows.map(({ id }) => id)
}

export type InstalledWorkspaceRow = Omit<WorkspaceRow, 'role'> & {
  owner: { accountId: string; email: string } | null
}

function selectInstalled(db: Db) {
  return db
    .selectFrom('workspace')
    .leftJoin('workspaceContact as contact', 'contact.workspaceId', 'workspace.id')
    .select(['workspace.id', 'name', 'plan', 'workspace.createdAt', 'deleteAfter'])
    .select(['contact.accountId as ownerId', 'contact.email as ownerEmail'])
    .select(MEMBER_COUNT.as('members'))
}

/** Oldest first; all of them, or one page. */
export async function listInstalledWorkspaces(
  db: Db,
  page?: { limit: number; offset: number },
): Promise<InstalledWorkspaceRow[]> {
  const all = selectInstalled(db).orderBy('workspace.createdAt').orderBy('workspace.id')
  const rows = await (page ? all.limit(page.limit).offset(page.offset) : all).execute()
  return rows.map(toInstalled)
}

export async function findInstalledWorkspace(
  db: Db,
  id: string,
): Promise<InstalledWorkspaceRow | undefined> {
  const row = await selectInstalled(db).where('workspace.id', '=', id).executeTakeFirst()
  return row && toInstalled(row)
}

type InstalledColumns = Awaited<
  ReturnType<ReturnType<typeof selectInstalled>['executeTakeFirstOrThrow']>
>

function toInstalled({ ownerId, ownerEmail, ...row }: InstalledColumns): InstalledWorkspaceRow {
  const owner =
    ownerId === null || ownerEmail === null ? null : { accountId: ownerId, email: ownerEmail }
  return { ...row, plan: row.plan as Plan, owner }
}

export async function countWorkspaces(db: Db): Promise<number> {
  return countRows(db, 'workspace', {})
}
