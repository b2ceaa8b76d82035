import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import type { DB } from '../../store/tables.ts'
import { notifyBatch } from '../batches/batches.sql.ts'
import { listAccounts, type MailboxRow } from '../batches/mailboxes/batch-mailboxes.sql.ts'
import { findMigration, notifyMigration } from '../migrations.sql.ts'
import { requireBatch } from '../batches/find-batch.ts'
import { OWNER_LINK_LIMITS } from './limits.ts'
import type { BatchLinkRequest, LinkRequest } from './shapes.ts'
import { insertLink } from './owner-links.sql.ts'
import { createOwnerToken } from './owner-token.ts'
import type { CreatedOwnerLink } from './shapes.ts'

/** Path of the page of a link; the token follows. */
export const OWNER_PAGE_PATH = '/mailbox-sign-in'

export type CreateDeps = { db: Kysely<DB>; baseUrl: string }

type Asker = { workspaceId: string; accountId: string }

/**
 * Creates the link of one side of a migration that waits for a sign-in. It replaces an earlier one.
 * @throws Fault `not_found`, `conflict`
 */
export async function createMigrationLink(
  { db, baseUrl }: CreateDeps,
  { workspaceId, accountId }: Asker,
  migrationId: string,
  { side, days = OWNER_LINK_LIMITS.days }: LinkRequest,
): Promise<CreatedOwnerLink> {
  const { token, hash } = createOwnerToken()
  return db.transaction().execute(async (trx) => {
    const row = await findMigration(trx, workspaceId, migrationId)
    if (!row) throw new Fault('not_found', 'The migration was not found.')
    if (row.batchId !== null)
      throw new Fault('conflict', 'This migration is part of a batch. Create the link there.')
    const { waitsForOwner, credentialId, user, host } = row[side]
    if (row.status !== 'paused' || !(waitsForOwner || credentialId !== undefined))
      throw new Fault('conflict', `The ${side} of this migration does not wait for a sign-in.`)
    const target = { migrationId }
    await insertLink(trx, { workspaceId, side, createdBy: accountId, days, target, hash })
    await notifyMigration(trx, workspaceId, migrationId)
    return { mailboxId: null, side, user, host, url: `${baseUrl}${OWNER_PAGE_PATH}/${token}` }
  })
}

/**
 * Creates the links of one side of mailboxes of a batch: of those that are named, otherwise of all
 * that wait for their owners.
 * @throws Fault `not_found`, `conflict`
 */
export async function createBatchLinks(
  { db, baseUrl }: CreateDeps,
  { workspaceId, accountId }: Asker,
  batchId: string,
  { side, days = OWNER_LINK_LIMITS.days, mailboxes: ids }: BatchLinkRequest,
): Promise<CreatedOwnerLink[]> {
  return db.transaction().execute(async (trx) => {
    const batch = await requireBatch(trx, { workspaceId, id: batchId })
    if (batch.finishedAt) throw new Fault('conflict', 'The batch is finished.')
    const accounts = await listAccounts(trx, batchId)
    const chosen = accounts.filter((one) =>
      ids ? ids.includes(one.id) && canWait(one) : one[side].waitsForOwner,
    )
    if (chosen.length === 0)
      throw new Fault('conflict', `No mailbox waits for the owner of its ${side}.`)
    const links: CreatedOwnerLink[] = []
    for (const { id: mailboxId, [side]: address } of chosen) {
      const { token, hash } = createOwnerToken()
      const target = { mailboxId }
      await insertLink(trx, { workspaceId, side, createdBy: accountId, days, target, hash })
      const { user = '', host = '' } = address
      links.push({ mailboxId, side, user, host, url: `${baseUrl}${OWNER_PAGE_PATH}/${token}` })
    }
    await notifyBatch(trx, workspaceId, batchId)
    return links
  })
}

/** Whether the owner of a mailbox can sign in now: it neither waits for a worker nor is copied. */
function canWait({ state }: Pick<MailboxRow, 'state'>): boolean {
  return ['waiting_for_owner', 'ready', 'needs_attention', 'in_sync'].includes(state)
}
