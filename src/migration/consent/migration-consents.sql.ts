import { sql, type RawBuilder, type SqlBool, type Transaction } from 'kysely'
import { KEEP_DAYS } from '../../mail-credentials/limits.ts'
import { releaseCredential } from '../../mail-credentials/mail-credentials.sql.ts'
import type { Db } from '../../store/database.ts'
import { isInDeletedWorkspace } from '../../store/deleted-workspaces.ts'
import type { DB } from '../../store/tables.ts'

/** Whether a migration `m` uses a credential on either side. */
const uses = (credentialId: RawBuilder<string> | string): RawBuilder<SqlBool> =>
  sql<SqlBool>`${credentialId} in (m.source ->> 'credentialId', m.destination ->> 'credentialId')`

/** Whether a migration `m` has not ended, or further passes follow. */
const IS_OPEN = sql<SqlBool>`(m.status in ('pending', 'running', 'paused')
  or exists (select from migration_sync s where s.migration_id = m.id))`

/**
 * Whether a migration that has not ended or is synchronized, or a batch that is not finished, uses a
 * credential.
 */
export async function isCredentialUsed(
  db: Db,
  workspaceId: string,
  credentialId: string,
): Promise<boolean> {
  if (await isUsedByBatch(db, workspaceId, credentialId)) return true
  const row = await db
    .selectFrom('migration as m')
    .select('m.id')
    .where('m.workspaceId', '=', workspaceId)
    .where(IS_OPEN)
    .where(uses(credentialId))
    .limit(1)
    .executeTakeFirst()
  return row !== undefined
}

/** Whether a batch that is not finished uses a credential. */
async function isUsedByBatch(db: Db, workspaceId: string, credentialId: string): Promise<boolean> {
  const { rows } = await sql`
    select from migration_batch b where b.workspace_id = ${workspaceId} and b.finished_at is null
      and (exists (select from batch_mailbox m where m.batch_id = b.id
          and m.source ? 'credentialId' and m.source ->> 'credentialId' = ${credentialId})
        or exists (select from batch_mailbox m where m.batch_id = b.id
          and m.destination ? 'credentialId' and m.destination ->> 'credentialId' = ${credentialId}))
    limit 1`.execute(db)
  return rows.length > 0
}

/** Whether a batch or a synchronization uses a credential: they end by themselves, with it. */
export async function isCredentialKept(
  db: Db,
  workspaceId: string,
  credentialId: string,
): Promise<boolean> {
  if (await isUsedByBatch(db, workspaceId, credentialId)) return true
  const { rows } = await sql`
    select from migration m join migration_sync s on s.migration_id = m.id
    where m.workspace_id = ${workspaceId} and ${uses(credentialId)} limit 1`.execute(db)
  return rows.length > 0
}

/** The credentials of the mailboxes of a batch. */
export async function listBatchCredentials(db: Db, batchId: string): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select source ->> 'credentialId' as id from batch_mailbox
      where batch_id = ${batchId} and source ? 'credentialId'
    union select destination ->> 'credentialId' from batch_mailbox
      where batch_id = ${batchId} and destination ? 'credentialId'`.execute(db)
  return rows.map(({ id }) => id)
}

/**
 * The migrations that wait until a person signs in again, and locks them. One that another
 * transaction has locked is about to end.
 */
export async function listWaitingFor(
  db: Transaction<DB>,
  workspaceId: string,
  credentialId: string,
): Promise<string[]> {
  const rows = await db
    .selectFrom('migration as m')
    .select('m.id')
    .where('m.workspaceId', '=', workspaceId)
    .where('m.status', '=', 'paused')
    .where('m.batchId', 'is', null)
    .where(uses(credentialId))
    .where(
      sql<SqlBool>`coalesce(m.source ->> 'waitsForOwner', m.destination ->> 'waitsForOwner') is null`,
    )
    .forUpdate()
    .skipLocked()
    .execute()
  return rows.map(({ id }) => id)
}

/**
 * Ends the use of credentials by a migration that has ended, unless other ones use them.
 * @param days for which they are kept; 0 deletes them
 */
export async function releaseCredentials(
  db: Db,
  workspaceId: string,
  credentialIds: readonly string[],
  days: number,
): Promise<void> {
  for (const id of credentialIds) {
    if (!(await isCredentialUsed(db, workspaceId, id)))
      await releaseCredential(db, workspaceId, id, days)
  }
}

/**
 * The migrations that wait for a credential that no longer exists, or for longer than it would for the
 * owner of a mailbox.
 */
export async function listAbandoned(db: Db): Promise<{ id: string; workspaceId: string }[]> {
  return db
    .selectFrom('migration as m')
    .select(['m.id', 'm.workspaceId'])
    .where('m.status', '=', 'paused')
    .where('m.batchId', 'is', null)
    .where((eb) => eb.not(isInDeletedWorkspace('m.workspaceId')))
    .where(
      sql<SqlBool>`(coalesce(m.source ->> 'waitsForOwner', m.destination ->> 'waitsForOwner') = 'true'
        and m.queued_at < now() - make_interval(days => ${KEEP_DAYS.used})
      or exists (
        select from unnest(array[m.source ->> 'credentialId', m.destination ->> 'credentialId']) as named(id)
        where named.id is not null and not exists (select from mail_credential c where c.id = named.id::uuid)))`,
    )
    .limit(1_000)
    .execute()
}
