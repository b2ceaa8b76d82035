import { sql, type Transaction } from 'kysely'
import type { Db } from '../../../store/database.ts'
import { isInDeletedWorkspace } from '../../../store/deleted-workspaces.ts'
import { updateRows } from '../../../store/row.ts'
import type { DB } from '../../../store/tables.ts'
import { NOW, type MailboxRow } from '../../batches/mailboxes/batch-mailboxes.sql.ts'
import {
  countWithOneMore,
  type AccountAddress,
  type MigrationStatus,
} from '../../migrations.sql.ts'
import type { Side } from '../owner-links.sql.ts'

/** What the owner of a mailbox has given by a link, as the owner’s page shows it. */
export type OwnerAccess = {
  id: string
  side: Side
  workspaceId: string
  workspaceName: string
  /** The email of the person who asked; null when the account was deleted. */
  askedBy: string | null
  migrationId: string | null
  mailboxId: string | null
  batchId: string | null
  source: AccountAddress
  destination: AccountAddress
  withdrawnAt: Date | null
  /** Whether it is still stored: it is deleted when the migration ends. */
  isStored: boolean
}

/** @param hash of the token of the owner’s page */
export async function findAccess(db: Db, hash: Buffer): Promise<OwnerAccess | undefined> {
  const { rows } = await sql<OwnerAccess>`
    select l.*, coalesce(l.account ->> 'byOwner' = 'true' and case
        when l.account ? 'credentialId' then exists (
          select from mail_credential c where c.id = (l.account ->> 'credentialId')::uuid)
        else exists (select from migration_secret s where s.migration_id = l.migration_id)
          or exists (select from batch_mailbox_secret s where s.mailbox_id = l.mailbox_id) end, false) as is_stored
    from (
      select o.id, o.side, o.workspace_id, w.name as workspace_name, a.email as asked_by,
        o.migration_id, o.mailbox_id, m.batch_id, o.withdrawn_at,
        coalesce(g.source, m.source) as source, coalesce(g.destination, m.destination) as destination,
        case o.side when 'source' then coalesce(g.source, m.source)
          else coalesce(g.destination, m.destination) end as account
      from owner_link o join workspace w on w.id = o.workspace_id
      left join account a on a.id = o.created_by
      left join migration g on g.id = o.migration_id
      left join batch_mailbox m on m.id = o.mailbox_id
      where o.owner_hash = ${hash} and not ${isInDeletedWorkspace('o.workspace_id')}) l`.execute(db)
  return rows[0]
}

/** Records that the owner has withdrawn; false when they had before. */
export async function markWithdrawn(db: Transaction<DB>, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`update owner_link set withdrawn_at = now()
    where id = ${id} and withdrawn_at is null`.execute(db)
  return (numAffectedRows ?? 0n) > 0n
}

type LockedMigration = {
  status: MigrationStatus
  source: AccountAddress
  destination: AccountAddress
  sealed: string | null
  isSynchronized: boolean
}

/** Finds a migration of no batch with its encrypted secrets, and locks it. */
export async function lockMigration(
  db: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<LockedMigration | undefined> {
  const { rows } = await sql<LockedMigration>`
    select g.status, g.source, g.destination, s.sealed,
      exists (select from migration_sync y where y.migration_id = g.id) as is_synchronized
    from migration g left join migration_secret s on s.migration_id = g.id
    where g.workspace_id = ${workspaceId} and g.id = ${id} and g.batch_id is null
    for update of g`.execute(db)
  return rows[0]
}

type Sides = { source: Partial<AccountAddress>; destination: Partial<AccountAddress> }

/** Saves the accounts and secrets of a migration without what its owner has withdrawn. */
export async function saveWithdrawn(
  db: Transaction<DB>,
  id: string,
  { source, destination }: Sides,
  sealed: string | null,
): Promise<void> {
  await db
    .updateTable('migration')
    .set({ source: JSON.stringify(source), destination: JSON.stringify(destination) })
    .where('id', '=', id)
    .execute()
  if (sealed !== null) await updateRows(db, 'migrationSecret', { migrationId: id }, { sealed })
}

/**
 * Pauses a migration until its owner signs in again. Its worker notices within a second, and then
 * releases it.
 */
export async function pauseMigration(db: Transaction<DB>, id: string): Promise<void> {
  await db
    .updateTable('migration')
    .set({
      status: 'paused',
      // From then on it waits for up to 30 days.
      queuedAt: sql<Date>`now()`,
      completedAt: null,
      errorCount: countWithOneMore(),
    })
    .where('id', '=', id)
    .execute()
}

/** Saves a mailbox of a batch without what its owner has withdrawn. */
export async function saveWithdrawnMailbox(
  db: Transaction<DB>,
  id: string,
  { source, destination, ...shown }: Sides & Pick<MailboxRow, 'state' | 'problem' | 'message'>,
  sealed: string | null,
): Promise<void> {
  await db
    .updateTable('batchMailbox')
    .set({
      source: JSON.stringify(source),
      destination: JSON.stringify(destination),
      ...shown,
      changedAt: NOW,
    })
    .where('id', '=', id)
    .execute()
  if (sealed !== null) await updateRows(db, 'batchMailboxSecret', { mailboxId: id }, { sealed })
}
