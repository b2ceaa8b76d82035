import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../../errors.ts'
import type { Role } from '../../../http/access.ts'
import type { DB } from '../../../store/tables.ts'
import type { Plan } from '../../../config.ts'
import { prepareAccount, requireEmail } from '../../accounts.ts'
import { findAccountByEmail, insertAccount, type AccountRow } from '../../accounts.sql.ts'
import { INVITATION_LIFETIME_MS, MAX_OPEN_INVITATIONS } from '../limits.ts'
import { insertMember, requirePower } from '../members/members.ts'
import { findMember } from '../members/members.sql.ts'
import { lockMemberAccounts, type LockedAccount } from '../workspaces.sql.ts'
import { notifyWorkspaceChange } from '../workspace-changes.ts'
import { requireLiveWorkspace, requirePlace, requireRole } from '../workspaces.ts'
import { createInvitationToken, hashToken, readToken } from './invitation-token.ts'
import {
  countInvitations,
  deleteExpiredInvitations,
  deleteInvitation,
  findInvitation,
  findInvitationByHash,
  findInvitationTo,
  insertInvitation,
  type OpenInvitation,
} from './invitations.sql.ts'

export type InvitationRequest = {
  workspaceId: string
  /** The member who invites. */
  accountId: string
  role: Role
  /** The only address that can accept; without one, any account with the link can. */
  email?: string | undefined
}

/**
 * Invites to a workspace: an address, or anyone with the link. Another invitation to the same
 * address replaces the one before.
 * @returns the invitation, its link and the token in it, which are not stored
 * @throws Fault `forbidden`, `invalid_request`; `conflict` when the address is a member’s, or with
 *   too many open invitations
 */
export async function createInvitation(
  { db, baseUrl }: { db: Kysely<DB>; baseUrl: string },
  { workspaceId, accountId, role, email }: InvitationRequest,
): Promise<OpenInvitation & { url: string; token: string }> {
  const address = email === undefined ? null : requireEmail(email)
  const token = createInvitationToken()
  const invitation = await db.transaction().execute(async (trx) => {
    await requireLiveWorkspace(trx, workspaceId)
    const actorRole = await requireRole(trx, workspaceId, { accountId }, 'admin')
    requirePower(actorRole, role)
    await deleteExpiredInvitations(trx, workspaceId)
    if (address !== null) await makeWayFor(trx, { workspaceId, address, actorRole })
    if ((await countInvitations(trx, workspaceId)) >= MAX_OPEN_INVITATIONS)
      throw new Fault(
        'conflict',
        `A workspace can have up to ${MAX_OPEN_INVITATIONS} open invitations. Revoke one that is no longer needed.`,
      )
    const id = await insertInvitation(trx, {
      workspaceId,
      email: address,
      role,
      hash: hashToken(token),
      invitedBy: accountId,
      expiresAt: new Date(Date.now() + INVITATION_LIFETIME_MS),
    })
    await notifyWorkspaceChange(trx, workspaceId)
    return (await findInvitation(trx, workspaceId, id)) as OpenInvitation
  })
  return { ...invitation, token, url: `${baseUrl}/invitation#${token}` }
}

/** @throws Fault `not_found`, `forbidden` */
export async function revokeInvitation(
  db: Kysely<DB>,
  { workspaceId, accountId, id }: { workspaceId: string; accountId: string; id: string },
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await requireLiveWorkspace(trx, workspaceId)
    const actorRole = await requireRole(trx, workspaceId, { accountId }, 'admin')
    const invitation = await findInvitation(trx, workspaceId, id)
    if (!invitation) throw new Fault('not_found', 'Invitation not found.')
    requirePower(actorRole, invitation.role)
    await deleteInvitation(trx, id)
    await notifyWorkspaceChange(trx, workspaceId)
  })
}

/** @throws Fault `not_found` when the invitation cannot be accepted any more */
export async function previewInvitation(
  { db, secretKey }: TokenDeps,
  token: string,
): Promise<OpenInvitation> {
  const known = readToken(token, secretKey) ?? notValid()
  return (await findInvitationByHash(db, known.hash)) ?? notValid()
}

type TokenDeps = { db: Kysely<DB>; secretKey: string }

/**
 * Creates the account of an invited address, as a member of the workspace. The link is used up. The
 * address counts as verified if the link is the emailed one.
 * @throws Fault `not_found` when the invitation cannot be accepted any more; `forbidden` for one
 *   without an address; `conflict` when the address has an account; `invalid_request`
 */
export async function signUpByInvitation(
  {
    db,
    secretKey,
    plan,
    passwordCost,
  }: TokenDeps & { plan: Plan; passwordCost?: number | undefined },
  { token, name, password }: { token: string; name: string; password: string },
): Promise<{ account: AccountRow; workspaceId: string; role: Role }> {
  const known = readToken(token, secretKey) ?? notValid()
  const found = (await findInvitationByHash(db, known.hash)) ?? notValid()
  if (found.email === null)
    throw new Fault(
      'forbidden',
      'This invitation is for anyone with the link, so it cannot create an account. Sign in to accept it.',
    )
  const wanted = { email: found.email, name, password, plan, emailVerified: known.isMailed }
  // Hashing the password takes time, which is not spent within the transaction.
  const prepared = await prepareAccount(wanted, passwordCost)
  return db.transaction().execute(async (trx) => {
    const row = await insertAccount(trx, prepared)
    if (!row)
      throw new Fault(
        'conflict',
        `${prepared.email} has an account already. Sign in to accept the invitation.`,
      )
    const [account] = await lockMemberAccounts(trx, [row.id])
    await requireLiveWorkspace(trx, found.workspaceId)
    // Another request may have accepted or revoked it before the workspace was locked.
    const invitation = (await findInvitationByHash(trx, known.hash)) ?? notValid()
    const { workspaceId, role } = invitation
    if (role === 'owner') await requirePlace(trx, account ?? notValid())
    await insertMember(trx, { workspaceId, accountId: row.id, role })
    await deleteInvitation(trx, invitation.id)
    return { account: row, workspaceId, role }
  })
}

/**
 * Makes an account a member. Of concurrent calls with one token, exactly one succeeds.
 * @returns the id of the workspace
 * @throws Fault `not_found` when the invitation cannot be accepted any more; `forbidden` when it is
 *   for another address, or when the account’s address is not verified; `conflict` when the account
 *   is a member already, or when its plan allows it to own no more workspaces, which keeps the
 *   invitation
 */
export async function acceptInvitation(
  { db, secretKey }: TokenDeps,
  accountId: string,
  token: string,
): Promise<string> {
  const { hash: invitationHash } = readToken(token, secretKey) ?? notValid()
  return db.transaction().execute(async (trx) => {
    const [account] = await lockMemberAccounts(trx, [accountId])
    const found = await findInvitationByHash(trx, invitationHash)
    if (!found || !account) return notValid()
    await requireLiveWorkspace(trx, found.workspaceId)
    // Another request may have accepted or revoked it before the workspace was locked.
    const invitation = (await findInvitationByHash(trx, invitationHash)) ?? notValid()
    requireInvitee(invitation, account)
    const { workspaceId, role } = invitation
    const isMember = await findMember(trx, workspaceId, accountId)
    if (role === 'owner' && !isMember) await requirePlace(trx, account)
    await insertMember(trx, { workspaceId, accountId, role })
    await deleteInvitation(trx, invitation.id)
    return workspaceId
  })
}

/** An address on an account proves nothing until it was verified: anybody can sign up with it. */
function requireInvitee({ email }: OpenInvitation, account: LockedAccount): void {
  if (email === null) return
  if (email !== account.email)
    throw new Fault(
      'forbidden',
      `This invitation is for ${email}. You are signed in as ${account.email}.`,
    )
  if (!account.emailVerified)
    throw new Fault(
      'forbidden',
      'The email address of your account is not verified, so this invitation cannot be accepted. Ask for an invitation by link.',
    )
}

/** Removes an earlier invitation to the address, unless it belongs to a member. */
async function makeWayFor(
  db: Transaction<DB>,
  { workspaceId, address, actorRole }: { workspaceId: string; address: string; actorRole: Role },
): Promise<void> {
  const account = await findAccountByEmail(db, address)
  if (account && (await findMember(db, workspaceId, account.id)))
    throw new Fault('conflict', `${address} is already a member of this workspace.`)
  const before = await findInvitationTo(db, workspaceId, address)
  if (!before) return
  requirePower(actorRole, before.role)
  await deleteInvitation(db, before.id)
}

function notValid(): never {
  throw new Fault(
    'not_found',
    'This invitation was used or revoked, or it has expired. Ask for a new one.',
  )
}
