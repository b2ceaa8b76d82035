import { sql, type Insertable, type Kysely, type Transaction } from 'kysely'
import type { Role } from '../../../http/access.ts'
import type { Db } from '../../../store/database.ts'
import { countRows, deleteRows, insertRow } from '../../../store/row.ts'
import type { DB } from '../../../store/tables.ts'

type InvitationRow = {
  id: string
  email: string | null
  role: Role
  invitedBy: { email: string; name: string }
  createdAt: Date
  expiresAt: Date
}

/** An invitation with its workspace. */
export type OpenInvitation = InvitationRow & { workspaceId: string; workspace: string }

/** Invitations that can be accepted, with those who sent them. */
function selectOpen(db: Kysely<DB> | Transaction<DB>) {
  return db
    .selectFrom('invitation as i')
    .innerJoin('workspace as w', 'w.id', 'i.workspaceId')
    .innerJoin('account as inviter', 'inviter.id', 'i.invitedBy')
    .select(['i.id', 'i.email', 'i.role', 'i.createdAt', 'i.expiresAt'])
    .select(['i.workspaceId', 'w.name as workspace'])
    .select(['inviter.email as inviterEmail', 'inviter.name as inviterName'])
    .where('i.expiresAt', '>', sql<Date>`now()`)
    .where('w.deleteAfter', 'is', null)
}

type OpenColumns = Awaited<ReturnType<ReturnType<typeof selectOpen>['executeTakeFirstOrThrow']>>

function toInvitation({ inviterEmail, inviterName, ...row }: OpenColumns): OpenInvitation {
  return {
    ...row,
    role: row.role as Role,
    invitedBy: { email: inviterEmail, name: inviterName },
  }
}

/** The open invitations of a workspace, newest first. */
export async function listInvitations(db: Db, workspaceId: string): Promise<OpenInvitation[]> {
  const rows = await selectOpen(db)
    .where('i.workspaceId', '=', workspaceId)
    .orderBy('i.id', 'desc')
    .execute()
  return rows.map(toInvitation)
}

export async function findInvitation(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<OpenInvitation | undefined> {
  const row = await selectOpen(db)
    .where('i.workspaceId', '=', workspaceId)
    .where('i.id', '=', id)
    .executeTakeFirst()
  return row && toInvitation(row)
}

/**
 * Finds an open invitation by the SHA-256 of its token, while the member who sent it may still
 * invite to its role.
 */
export async function findInvitationByHash(
  db: Db,
  hash: Buffer,
): Promise<OpenInvitation | undefined> {
  const row = await selectOpen(db)
    .innerJoin('membership as m', (join) =>
      join.onRef('m.workspaceId', '=', 'i.workspaceId').onRef('m.accountId', '=', 'i.invitedBy'),
    )
    .where('i.hash', '=', hash)
    .where('inviter.disabledAt', 'is', null)
    .where((eb) =>
      eb.or([
        eb('m.role', '=', 'owner'),
        eb.and([eb('m.role', '=', 'admin'), eb('i.role', '<>', 'owner')]),
      ]),
    )
    .executeTakeFirst()
  return row && toInvitation(row)
}

export async function insertInvitation(
  db: Db,
  invitation: Insertable<DB['invitation']>,
): Promise<string> {
  const { id } = await insertRow(db, 'invitation', invitation, ['id'])
  return id
}

export async function deleteInvitation(db: Db, id: string): Promise<void> {
  await deleteRows(db, 'invitation', { id })
}

/** @param roles only invitations to these roles; by default all */
export async function deleteInvitationsBy(
  db: Db,
  {
    workspaceId,
    accountId,
    roles,
  }: { workspaceId: string; accountId: string; roles?: Role[] | undefined },
): Promise<void> {
  if (roles?.length === 0) return
  let query = db
    .deleteFrom('invitation')
    .where('workspaceId', '=', workspaceId)
    .where('invitedBy', '=', accountId)
  if (roles) query = query.where('role', 'in', roles)
  await query.execute()
}

/** Deletes the invitations of a workspace to an address. @param email lower-cased */
export async function deleteInvitationsTo(
  db: Db,
  workspaceId: string,
  email: string,
): Promise<void> {
  await deleteRows(db, 'invitation', { workspaceId, email })
}

/** Deletes the expired invitations of a workspace. */
export async function deleteExpiredInvitations(db: Db, workspaceId: string): Promise<void> {
  await db
    .deleteFrom('invitation')
    .where('workspaceId', '=', workspaceId)
    .where('expiresAt', '<=', sql<Date>`now()`)
    .execute()
}

/** The open invitation of a workspace to an address. @param email lower-cased */
export async function findInvitationTo(
  db: Db,
  workspaceId: string,
  email: string,
): Promise<OpenInvitation | undefined> {
  const row = await selectOpen(db)
    .where('i.workspaceId', '=', workspaceId)
    .where('i.email', '=', email)
    .executeTakeFirst()
  return row && toInvitation(row)
}

export async function countInvitations(db: Db, workspaceId: string): Promise<number> {
  return countRows(db, 'invitation', { workspaceId })
}
