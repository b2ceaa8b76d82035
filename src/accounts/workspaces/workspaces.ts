import type { Kysely, Transaction } from 'kysely'
import type { Plan } from '../../config.ts'
import { Fault, invalidField } from '../../errors.ts'
import { isAtLeast, type Role } from '../../http/access.ts'
import { releaseHeldJobs } from '../../jobs/held-jobs.ts'
import { notifyDeletionChange } from '../../store/deleted-workspaces.ts'
import type { DB } from '../../store/tables.ts'
import { notifyAccountChange } from '../account-changes.ts'
import { NAME_LENGTH } from '../shapes.ts'
import { MAX_DELETED_WORKSPACES, RESTORE_PERIOD_MS, WORKSPACES_BY_PLAN } from './limits.ts'
import { findMember, listMembers } from './members/members.sql.ts'
import {
  countDeleted,
  countOwned,
  findInstalledWorkspace,
  findMembership,
  findWorkspaceOf,
  insertWorkspace,
  lockMemberAccounts,
  lockWorkspace,
  updateWorkspace,
  type InstalledWorkspaceRow,
  type LockedAccount,
  type LockedWorkspace,
  type WorkspaceRow,
} from './workspaces.sql.ts'
import { notifyWorkspaceChange } from './workspace-changes.ts'
import { isShownName } from '../../http/shown-name.ts'

/** Who acts in a workspace: an account, or null for the command line, which may do everything. */
export type Actor = { accountId: string } | null

/**
 * Creates a workspace with the account as its owner and with the plan of the account.
 * @throws Fault `conflict` when the plan of the account allows no more, `invalid_request`
 */
export async function createWorkspace(
  db: Kysely<DB>,
  accountId: string,
  name: string,
): Promise<WorkspaceRow> {
  requireWorkspaceName(name)
  return db.transaction().execute(async (trx) => {
    const [account] = await lockMemberAccounts(trx, [accountId])
    if (!account) throw new Fault('not_found', 'Account not found.')
    await requirePlace(trx, account)
    const { id } = await insertWorkspace(trx, { name, plan: account.plan, createdBy: accountId })
    await notifyAccountChange(trx, accountId)
    return (await findWorkspaceOf(trx, accountId, id)) as WorkspaceRow
  })
}

/**
 * For the command line: creates a workspace for an account, beyond the limit of its plan.
 * @throws Fault `invalid_request`
 */
export async function createWorkspaceFor(
  db: Kysely<DB>,
  accountId: string,
  { name, plan }: { name: string; plan: Plan },
): Promise<InstalledWorkspaceRow> {
  requireWorkspaceName(name)
  return db.transaction().execute(async (trx) => {
    const { id } = await insertWorkspace(trx, { name, plan, createdBy: accountId })
    await notifyAccountChange(trx, accountId)
    return requireInstalled(trx, id)
  })
}

/** @throws Fault `not_found`, `forbidden`, `invalid_request` */
export async function renameWorkspace(
  db: Kysely<DB>,
  workspaceId: string,
  name: string,
  actor: Actor,
): Promise<void> {
  requireWorkspaceName(name)
  await db.transaction().execute(async (trx) => {
    await requireLiveWorkspace(trx, workspaceId)
    await requireRole(trx, workspaceId, actor, 'admin')
    await updateWorkspace(trx, workspaceId, { name })
    await notifyWorkspaceChange(trx, workspaceId)
  })
}

/**
 * Sets the plan of a workspace, for administrators of the installation.
 * @throws Fault `not_found`
 */
export async function setWorkspacePlan(
  db: Kysely<DB>,
  id: string,
  plan: Plan,
): Promise<InstalledWorkspaceRow> {
  return db.transaction().execute(async (trx) => {
    if (!(await updateWorkspace(trx, id, { plan }))) throw workspaceNotFound()
    await notifyWorkspaceChange(trx, id)
    return requireInstalled(trx, id)
  })
}

/**
 * Deletes a workspace. Its members, tokens and keys lose access and its background work ends at
 * once; its data is kept for 7 days, in which an owner can restore it. A member without another
 * workspace gets a new one.
 * @returns when the data will be deleted
 * @throws Fault `invalid_request` when the name is wrong, `not_found`, `forbidden`; `conflict` when
 *   the account that answers for it has too many deleted workspaces, or when members changed
 *   meanwhile
 */
export async function deleteWorkspace(
  db: Kysely<DB>,
  workspaceId: string,
  name: string,
  actor: Actor,
): Promise<Date> {
  return db.transaction().execute(async (trx) => {
    const accounts = await lockMembersOf(trx, workspaceId)
    const workspace = await requireLiveWorkspace(trx, workspaceId)
    await requireRole(trx, workspaceId, actor, 'owner')
    await requireSameMembers(trx, workspaceId, accounts)
    requireTypedName(workspace, name)
    if (actor) await requireFewDeleted(trx, workspace)
    const deleteAfter = new Date(Date.now() + RESTORE_PERIOD_MS)
    await updateWorkspace(trx, workspaceId, { deleteAfter })
    for (const account of accounts) {
      await ensureWorkspace(trx, account)
      await notifyAccountChange(trx, account.id)
    }
    await notifyDeletionChange(trx, { workspaceId, isDeleted: true })
    await notifyWorkspaceChange(trx, workspaceId)
    return deleteAfter
  })
}

/**
 * Restores a deleted workspace with its data, members, tokens and background work.
 * @throws Fault `not_found` also when it is not the actor’s, `forbidden`; `conflict` when it is not
 *   deleted
 */
export async function restoreWorkspace(
  db: Kysely<DB>,
  workspaceId: string,
  actor: Actor,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    const workspace = await lockWorkspace(trx, workspaceId)
    if (!workspace) throw workspaceNotFound()
    if (actor && !(await findMember(trx, workspaceId, actor.accountId))) throw workspaceNotFound()
    await requireRole(trx, workspaceId, actor, 'owner')
    if (workspace.deleteAfter === null)
      throw new Fault('conflict', 'This workspace is not deleted.')
    if (workspace.deleteAfter.getTime() <= Date.now()) throw workspaceNotFound()
    await updateWorkspace(trx, workspaceId, { deleteAfter: null })
    for (const { accountId } of await listMembers(trx, workspaceId))
      await notifyAccountChange(trx, accountId)
    await releaseHeldJobs(trx, workspaceId)
    await notifyDeletionChange(trx, { workspaceId, isDeleted: false })
    await notifyWorkspaceChange(trx, workspaceId)
  })
}

/**
 * Gives an account a workspace of its own if it has none. Call it in the transaction in which the
 * account may have lost its last one, with the account locked. It needs no place of the plan: an
 * account that left a workspace no longer owns it, and `MAX_DELETED_WORKSPACES` limits deleted ones.
 */
export async function ensureWorkspace(db: Transaction<DB>, account: LockedAccount): Promise<void> {
  if (await findMembership(db, account.id)) return
  const name = account.name || account.email
  await insertWorkspace(db, { name, plan: account.plan, createdBy: account.id })
}

/**
 * Requires that the plan of an account allows it to own one more workspace. The account is locked.
 * @throws Fault `conflict`
 */
export async function requirePlace(db: Transaction<DB>, account: LockedAccount): Promise<void> {
  const { id, email, plan } = account
  const limit = WORKSPACES_BY_PLAN[plan]
  if ((await countOwned(db, id)) < limit) return
  throw new Fault(
    'conflict',
    `With the plan “${plan}”, ${email} can own ${limit === 1 ? 'one workspace' : `up to ${limit} workspaces`}. Leave or delete another one, or use the role “admin”. Deleted workspaces count until their 7 days are over.`,
  )
}

/**
 * Locks a workspace that is not deleted.
 * @throws Fault `not_found`
 */
export async function requireLiveWorkspace(
  db: Transaction<DB>,
  id: string,
): Promise<LockedWorkspace> {
  const workspace = await lockWorkspace(db, id)
  if (!workspace || workspace.deleteAfter !== null) throw workspaceNotFound()
  return workspace
}

/**
 * Requires a role of the actor as it is now: it may have changed after the request was
 * authenticated. The workspace is locked.
 * @returns the role; that of an owner for the command line
 * @throws Fault `not_a_member`, `forbidden`
 */
export async function requireRole(
  db: Transaction<DB>,
  workspaceId: string,
  actor: Actor,
  needed: Role,
): Promise<Role> {
  if (actor === null) return 'owner'
  const member = await findMember(db, workspaceId, actor.accountId)
  if (!member) throw new Fault('not_a_member', 'You are no longer a member of this workspace.')
  if (!isAtLeast(member.role, needed))
    throw new Fault(
      'forbidden',
      `This requires the role “${needed}” in this workspace. Yours is “${member.role}”.`,
    )
  return member.role
}

/** @throws Fault `invalid_request` */
function requireWorkspaceName(name: string): void {
  if (name.trim() !== '' && isShownName(name, NAME_LENGTH)) return
  const message = `must have 1 to ${NAME_LENGTH} characters and no control or other invisible characters`
  throw invalidField('name', message, 'The name')
}

export const workspaceNotFound = () => new Fault('not_found', 'Workspace not found.')

/** @throws Fault `not_found` */
export async function requireInstalled(
  db: Kysely<DB> | Transaction<DB>,
  id: string,
): Promise<InstalledWorkspaceRow> {
  const row = await findInstalledWorkspace(db, id)
  if (!row) throw workspaceNotFound()
  return row
}

async function lockMembersOf(db: Transaction<DB>, workspaceId: string): Promise<LockedAccount[]> {
  const members = await listMembers(db, workspaceId)
  return lockMemberAccounts(
    db,
    members.map(({ accountId }) => accountId),
  )
}

/** Members who joined or left between both locks were not locked, or would get a workspace. */
async function requireSameMembers(
  db: Transaction<DB>,
  workspaceId: string,
  accounts: LockedAccount[],
): Promise<void> {
  const members = new Set((await listMembers(db, workspaceId)).map(({ accountId }) => accountId))
  if (members.size === accounts.length && accounts.every(({ id }) => members.has(id))) return
  throw new Fault('conflict', 'The members of this workspace changed meanwhile. Try again.')
}

function requireTypedName(workspace: LockedWorkspace, name: string): void {
  if (workspace.name === name) return
  throw new Fault('invalid_request', 'This is not the name of the workspace.', {
    details: [{ path: 'name', message: 'must be the name of the workspace' }],
  })
}

async function requireFewDeleted(
  db: Transaction<DB>,
  { responsibleId }: LockedWorkspace,
): Promise<void> {
  if ((await countDeleted(db, responsibleId)) < MAX_DELETED_WORKSPACES) return
  throw new Fault(
    'conflict',
    `An account can have up to ${MAX_DELETED_WORKSPACES} deleted workspaces that can still be restored. Wait until the 7 days of one are over.`,
  )
}
