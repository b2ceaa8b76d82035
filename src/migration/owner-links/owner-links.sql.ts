import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import { deleteRows } from '../../store/row.ts'
import type { DB } from '../../store/tables.ts'
import type { AccountAddress } from '../migrations.sql.ts'
import { OWNER_LINK_LIMITS } from './limits.ts'

export type Side = 'source' | 'destination'

/** A link as the members of the workspace see it. */
export type OwnerLinkRow = {
  id: string
  side: Side
  migrationId: string | null
  mailboxId: string | null
  user: string
  host: string
  createdAt: Date
  expiresAt: Date
  usedAt: Date | null
  /** When the owner has withdrawn the sign-in. */
  withdrawnAt: Date | null
  isExpired: boolean
  attempts: number
}

/** A link as its owner opens it. */
export type OpenedLink = Pick<OwnerLinkRow, 'id' | 'side' | 'migrationId' | 'mailboxId'> & {
  workspaceId: string
  batchId: string | null
  source: AccountAddress
  destination: AccountAddress
  workspaceName: string
  /** The email of the person who asks; null when the account was deleted. */
  askedBy: string | null
  state: 'open' | 'used' | 'expired' | 'blocked'
}

const SIDE_ADDRESS = sql`case l.side when 'source' then coalesce(g.source, m.source)
  else coalesce(g.destination, m.destination) end`

type NewLink = {
  workspaceId: string
  side: Side
  createdBy: string
  days: number
  target: { migrationId: string } | { mailboxId: string }
  hash: Buffer
}

/** Creates a link. An open one for the same side of the same mailbox is replaced. */
export async function insertLink(
  db: Transaction<DB>,
  { workspaceId, side, createdBy, days, target, hash }: NewLink,
): Promise<void> {
  const [column, id] =
    'migrationId' in target
      ? ['migration_id', target.migrationId]
      : ['mailbox_id', target.mailboxId]
  await sql`delete from owner_link
    where ${sql.ref(column)} = ${id} and side = ${side} and used_at is null`.execute(db)
  await sql`insert into owner_link (workspace_id, side, ${sql.ref(column)}, hash, created_by, expires_at)
    values (${workspaceId}, ${side}, ${id}, ${hash}, ${createdBy}, now() + make_interval(days => ${days}::int))`.execute(
    db,
  )
}

/** Lists the links of a migration, or of the mailboxes of a batch. */
export async function listLinks(
  db: Db,
  workspaceId: string,
  of: { migrationId: string } | { batchId: string },
): Promise<OwnerLinkRow[]> {
  const condition =
    'migrationId' in of ? sql`l.migration_id = ${of.migrationId}` : sql`m.batch_id = ${of.batchId}`
  const { rows } = await sql<OwnerLinkRow>`
    select l.id, l.side, l.migration_id, l.mailbox_id, l.created_at, l.expires_at, l.used_at, l.withdrawn_at, l.attempts,
      l.expires_at <= now() as is_expired,
      ${SIDE_ADDRESS} ->> 'user' as user, ${SIDE_ADDRESS} ->> 'host' as host
    from owner_link l left join migration g on g.id = l.migration_id
    left join batch_mailbox m on m.id = l.mailbox_id
    where l.workspace_id = ${workspaceId} and ${condition}
    order by m.position, l.id`.execute(db)
  return rows
}

/** Finds a link for its owner; undefined where it was revoked or its migration deleted. */
export async function findLink(db: Db, hash: Buffer): Promise<OpenedLink | undefined> {
  return find(db, sql`l.hash = ${hash}`)
}

export async function findLinkById(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<OpenedLink | undefined> {
  return find(db, sql`l.workspace_id = ${workspaceId} and l.id = ${id}`)
}

async function find(db: Db, condition: ReturnType<typeof sql>): Promise<OpenedLink | undefined> {
  const { rows } = await sql<OpenedLink>`
    select l.id, l.side, l.migration_id, l.mailbox_id, l.workspace_id, m.batch_id,
      coalesce(g.source, m.source) as source, coalesce(g.destination, m.destination) as destination,
      w.name as workspace_name, a.email as asked_by,
      case when l.used_at is not null then 'used' when l.expires_at <= now() then 'expired'
        when l.attempts >= ${OWNER_LINK_LIMITS.attempts} then 'blocked' else 'open' end as state
    from owner_link l join workspace w on w.id = l.workspace_id
    left join account a on a.id = l.created_by
    left join migration g on g.id = l.migration_id
    left join batch_mailbox m on m.id = l.mailbox_id
    where ${condition} and not ${isInDeletedWorkspace('l.workspace_id')}`.execute(db)
  return rows[0]
}

/** Counts an attempt with a password; false when there were too many, or the link is no longer open. */
export async function countAttempt(db: Db, id: string): Promise<boolean> {
  const { numAffectedRows } = await sql`update owner_link set attempts = attempts + 1
    where id = ${id} and used_at is null and expires_at > now() and attempts < ${OWNER_LINK_LIMITS.attempts}`.execute(
    db,
  )
  return (numAffectedRows ?? 0n) > 0n
}

/** Takes back an attempt that says nothing about the password, because the server did not answer. */
export async function discountAttempt(db: Db, id: string): Promise<void> {
  await sql`update owner_link set attempts = attempts - 1 where id = ${id} and attempts > 0`.execute(
    db,
  )
}

/**
 * Records that the owner has signed in, in place of an earlier sign-in for the same side.
 * @param ownerHash of the token of the owner’s own page
 * @returns false when the link was used or revoked, or has expired
 */
export async function claimLink(
  db: Transaction<DB>,
  id: string,
  ownerHash: Buffer,
): Promise<boolean> {
  const { numAffectedRows } =
    await sql`update owner_link set used_at = now(), owner_hash = ${ownerHash}
    where id = ${id} and used_at is null and expires_at > now()`.execute(db)
  await sql`delete from owner_link before using owner_link l
    where l.id = ${id} and before.id <> l.id and before.side = l.side
      and (before.migration_id = l.migration_id or before.mailbox_id = l.mailbox_id)`.execute(db)
  return (numAffectedRows ?? 0n) > 0n
}

/** Deletes the links of a mailbox with which its owners have not signed in. */
export async function deleteOpenLinks(db: Db, mailboxId: string): Promise<void> {
  await deleteRows(db, 'ownerLink', { mailboxId, usedAt: null })
}

/** @returns what the revoked link was for; undefined when there was none that was open */
export async function deleteOpenLink(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<Pick<OwnerLinkRow, 'migrationId' | 'mailboxId'> | undefined> {
  const row = await db
    .deleteFrom('ownerLink')
    .where('workspaceId', '=', workspaceId)
    .where('id', '=', id)
    .where('usedAt', 'is', null)
    .returning(['migrationId', 'mailboxId'])
    .executeTakeFirst()
  return row
}

/** Locks a migration that waits, with its secrets; undefined when it does not wait. */
export async function lockWaitingMigration(
  db: Transaction<DB>,
  workspaceId: string,
  id: string,
): Promise<
  { source: AccountAddress; destination: AccountAddress; sealed: string | null } | undefined
> {
  const { rows } = await sql<{
    source: AccountAddress
    destination: AccountAddress
    sealed: string | null
  }>`select g.source, g.destination, s.sealed from migration g
    left join migration_secret s on s.migration_id = g.id
    where g.workspace_id = ${workspaceId} and g.id = ${id} and g.status = 'paused' and g.batch_id is null
    for update of g`.execute(db)
  return rows[0]
}
