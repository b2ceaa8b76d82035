import { sql, type Insertable } from 'kysely'
import type { ReadPosition } from '../../net/imap/fetch/read-inbox.ts'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { deleteRows, findRow, insertRow, listRows, type Row } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'

const MAILBOX = [
  'id',
  'workspaceId',
  'host',
  'port',
  'secure',
  'tlsVerify',
  'username',
  /** Its password, encrypted; null with a sign-in at the provider. */
  'sealed',
  /** Its sign-in at the provider; null also after that was deleted. */
  'credentialId',
  /** Reading waits until a person signs in again. */
  'needsSignIn',
  'folder',
  'moveTo',
  'uidValidity',
  'lastUid',
  'fetchedAt',
  'totalMessages',
  'lastError',
  'failingSince',
  'createdAt',
] as const

export type MailboxRow = Row<'dmarcMailbox', typeof MAILBOX>

export async function insertMailbox(
  db: Db,
  mailbox: Insertable<DB['dmarcMailbox']>,
): Promise<MailboxRow> {
  return insertRow(db, 'dmarcMailbox', mailbox, MAILBOX)
}

/** Oldest first. */
export async function listReportMailboxes(db: Db, workspaceId: string): Promise<MailboxRow[]> {
  return listRows(db, 'dmarcMailbox', MAILBOX, { workspaceId }, 'id')
}

export async function findMailbox(db: Db, id: string): Promise<MailboxRow | undefined> {
  return findRow(db, 'dmarcMailbox', MAILBOX, { id })
}

/** Mailboxes, the one that was read longest ago first, without those of deleted workspaces. */
export async function listMailboxIds(db: Db): Promise<Pick<MailboxRow, 'id' | 'workspaceId'>[]> {
  const rows = db
    .selectFrom('dmarcMailbox')
    .select(['id', 'workspaceId'])
    .where((eb) => eb.not(isInDeletedWorkspace('workspaceId')))
  return rows.orderBy(sql`fetched_at nulls first`).execute()
}

export async function deleteMailbox(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'dmarcMailbox', { workspaceId, id })
}

/** Records that one more message was processed. */
export async function moveMark(
  db: Db,
  id: string,
  { uidValidity, lastUid }: ReadPosition,
): Promise<void> {
  await db
    .updateTable('dmarcMailbox')
    .set({ uidValidity, lastUid, totalMessages: sql`total_messages + 1` })
    .where('id', '=', id)
    .execute()
}

export async function markFetched(db: Db, id: string): Promise<void> {
  await db
    .updateTable('dmarcMailbox')
    .set({ fetchedAt: sql`now()`, lastError: null, failingSince: null, needsSignIn: false })
    .where('id', '=', id)
    .execute()
}

/** @returns the start of the failure */
export async function markFailed(
  db: Db,
  id: string,
  error: string,
  needsSignIn: boolean,
): Promise<Date | undefined> {
  const row = await db
    .updateTable('dmarcMailbox')
    .set({
      fetchedAt: sql`now()`,
      lastError: error,
      needsSignIn,
      failingSince: sql`coalesce(failing_since, now())`,
    })
    .where('id', '=', id)
    .returning('failingSince')
    .executeTakeFirst()
  return row?.failingSince ?? undefined
}

/** Report mailboxes that use a credential. */
export async function listUsingCredential(
  db: Db,
  workspaceId: string,
  credentialId: string,
): Promise<Pick<MailboxRow, 'id' | 'workspaceId'>[]> {
  return listRows(db, 'dmarcMailbox', ['id', 'workspaceId'], { workspaceId, credentialId })
}
