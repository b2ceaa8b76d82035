import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../../errors.ts'
import { isAtLeast, type Role } from '../../../http/access.ts'
import type { DB } from '../../../store/tables.ts'
import { notifyAccountChange } from '../../account-changes.ts'
import { deleteInvitationsBy, deleteInvitationsTo } from '../invitations/invitations.sql.ts'
import { MAX_MEMBERS } from '../limits.ts'
import { insertMembership, lockMemberAccounts } from '../workspaces.sql.ts'
import { notifyWorkspaceChange } from '../workspace-changes.ts'
import {
  ensureWorkspace,
  requireLiveWorkspace,
  requirePlace,
  requireRole,
  type Actor,
} from '../workspaces.ts'
import {
  countMembers,
  deleteMembership,
  findMember,
  hasOtherOwner,
  updateRole,
  type MemberRow,
} from './members.sql.ts'

type Place = { workspaceId: string; accountId: string }

/**
 * Changes the role of a member, in every instance: the member’s API tokens act with the new role.
 * @returns the member, and the name of the workspace
 * @throws Fault `not_found`, `forbidden`; `conflict` when no owner would be left, or when the plan
 *   of the member allows it to own no more workspaces
 */
export async function changeRole(
  db: Kysely<DB>,
  { workspaceId, accountId }: Place,
  role: Role,
  actor: Actor,
): Promise<{ member: MemberRow; workspace: string; isChanged: boolean }> {
  return db.transaction().execute(async (trx) => {
    const [account] = await lockMemberAccounts(trx, [accountId])
    const { name: workspace } = await requireLiveWorkspace(trx, workspaceId)
    const actorRole = await requireRole(trx, workspaceId, actor, 'admin')
    const member = await requireMember(trx, { workspaceId, accountId })
    requirePower(actorRole, member.role)
    requirePower(actorRole, role)
    if (member.role === role) return { member, workspace, isChanged: false }
    if (role === 'owner' && actor && account) await requirePlace(trx, account)
    if (member.role === 'owner') await requireOtherOwner(trx, { workspaceId, accountId })
    await updateRole(trx, workspaceId, accountId, role)
    await deleteInvitationsBy(trx, { workspaceId, accountId, roles: notGrantedBy(role) })
    await notifyMembersChange(trx, { workspaceId, accountId })
    return { member: { ...member, role }, workspace, isChanged: true }
  })
}

/**
 * Removes a member, or lets an account leave. Its API tokens of this workspace, and invitations by
 * it or to its address, end. An account without another workspace gets a new one.
 * @returns the former member, and the name of the workspace
 * @throws Fault `not_found`, `forbidden`; `conflict` when no owner would be left
 */
export async function removeMember(
  db: Kysely<DB>,
  { workspaceId, accountId }: Place,
  actor: Actor,
): Promise<{ member: MemberRow; workspace: string }> {
  return db.transaction().execute(async (trx) => {
    const [account] = await lockMemberAccounts(trx, [accountId])
    const { name: workspace } = await requireLiveWorkspace(trx, workspaceId)
    const isLeaving = actor?.accountId === accountId
    const actorRole = await requireRole(trx, workspaceId, actor, isLeaving ? 'read-only' : 'admin')
    const member = await requireMember(trx, { workspaceId, accountId })
    if (!account) throw memberNotFound()
    requirePower(actorRole, member.role)
    if (member.role === 'owner') await requireOtherOwner(trx, { workspaceId, accountId })
    await deleteMembership(trx, workspaceId, accountId)
    await deleteInvitationsBy(trx, { workspaceId, accountId })
    await deleteInvitationsTo(trx, workspaceId, member.email)
    await ensureWorkspace(trx, account)
    await notifyMembersChange(trx, { workspaceId, accountId })
    return { member, workspace }
  })
}

/**
 * For the command line: adds an account to a workspace without an invitation.
 * @throws Fault `not_found`; `conflict` when it is a member already, or when the workspace is full
 */
export async function addMember(
  db: Kysely<DB>,
  place: Place & { role: Role },
): Promise<{ member: MemberRow; workspace: string }> {
  return db.transaction().execute(async (trx) => {
    await lockMemberAccounts(trx, [place.accountId])
    const { name: workspace } = await requireLiveWorkspace(trx, place.workspaceId)
    return { member: await insertMember(trx, place), workspace }
  })
}

/**
 * Inserts a membership. The account and the workspace are locked, in this order.
 * @throws Fault `conflict` when the account is a member already, or when the workspace is full
 */
export async function insertMember(
  db: Transaction<DB>,
  { workspaceId, accountId, role }: Place & { role: Role },
): Promise<MemberRow> {
  if (await findMember(db, workspaceId, accountId))
    throw new Fault('conflict', 'This account is already a member of the workspace.')
  if ((await countMembers(db, workspaceId)) >= MAX_MEMBERS)
    throw new Fault('conflict', `A workspace can have up to ${MAX_MEMBERS} members.`)
  await insertMembership(db, { workspaceId, accountId, role })
  await notifyMembersChange(db, { workspaceId, accountId })
  return requireMember(db, { workspaceId, accountId })
}

/**
 * Only owners have power over owners, and only they make owners.
 * @param over the role that is given, taken or revoked
 * @throws Fault `forbidden`
 */
export function requirePower(actorRole: Role, over: Role): void {
  if (over === 'owner' && actorRole !== 'owner')
    throw new Fault('forbidden', 'This requires an owner of the workspace.')
}

/** The roles that a member with this role cannot invite to. */
function notGrantedBy(role: Role): Role[] | undefined {
  if (role === 'owner') return []
  return isAtLeast(role, 'admin') ? ['owner'] : undefined
}

async function requireMember(
  db: Transaction<DB>,
  { workspaceId, accountId }: Place,
): Promise<MemberRow> {
  const member = await findMember(db, workspaceId, accountId)
  if (!member) throw memberNotFound()
  return member
}

async function requireOtherOwner(
  db: Transaction<DB>,
  { workspaceId, accountId }: Place,
): Promise<void> {
  if (await hasOtherOwner(db, workspaceId, accountId)) return
  throw new Fault(
    'conflict',
    'The last owner cannot leave or get another role. Make another member an owner first, or delete the workspace.',
  )
}

async function notifyMembersChange(
  db: Transaction<DB>,
  { workspaceId, accountId }: Place,
): Promise<void> {
  await notifyAccountChange(db, accountId)
  await notifyWorkspaceChange(db, workspaceId)
}

const memberNotFound = () => new Fault('not_found', 'Member not found.')
