import type { Kysely, Transaction } from 'kysely'
import { insertAuditEntries, type AuditEntry } from '../../../accounts/audit/audit-log.sql.ts'
import { raiseAlert } from '../../../alerts/raise.ts'
import type { Enqueue, Job } from '../../../jobs/job.ts'
import type { EraseCredential, Revocation } from '../../../mail-credentials/erase-credential.ts'
import { ifDecryptable } from '../../../store/encryption.ts'
import type { DB } from '../../../store/tables.ts'
import { lockMailbox } from '../../batches/mailboxes/batch-mailboxes.sql.ts'
import { decryptPasswords, encryptPasswords } from '../../batches/passwords.ts'
import { pauseMailboxes } from '../../batches/batch-progress.sql.ts'
import { lockScheduling } from '../../batches/schedule/batch-schedule.sql.ts'
import { lockBatch, notifyBatch } from '../../batches/batches.sql.ts'
import {
  addErrors,
  eraseSecret,
  notifyMigration,
  type AccountAddress,
} from '../../migrations.sql.ts'
import { decryptSecrets, encryptSecrets } from '../../submit-migration.ts'
import { OWNER_ACTOR } from '../audit-actor.ts'
import { describeWithdrawal, WITHDRAWN, withdrawalAlert } from './messages.ts'
import {
  lockMigration,
  markWithdrawn,
  pauseMigration,
  saveWithdrawn,
  saveWithdrawnMailbox,
  type OwnerAccess,
} from './withdrawal.sql.ts'

/** Path of the page of an owner who has signed in; the token follows. */
export const OWNER_ACCESS_PATH = '/mailbox-access'

export type WithdrawDeps = {
  db: Kysely<DB>
  secretKey: string
  eraseCredential: EraseCredential
  scheduler: Job
}

/** What was deleted: a password, or the tokens of a permission. */
type Erased = { credentialId: string | undefined; pauses: boolean }

/**
 * Deletes what the owner of a mailbox has given by a link, stops what uses it, and revokes the
 * permission at the provider.
 * @returns what became of the permission; null where the owner gave a password, or nothing is stored
 */
export async function withdrawAccess(
  deps: WithdrawDeps,
  access: OwnerAccess,
  enqueue: Enqueue,
): Promise<Revocation | null> {
  const revoke = await deps.db.transaction().execute((trx) => erase(trx, deps, access, enqueue))
  // Only now, because the transaction must not wait for the provider.
  const revocation = revoke && (await revoke())
  if (revocation)
    await insertAuditEntries(deps.db, [
      entryOf(access, 'Revoke the permission to a mailbox at its provider', revocation),
    ])
  return revocation
}

async function erase(
  trx: Transaction<DB>,
  deps: WithdrawDeps,
  access: OwnerAccess,
  enqueue: Enqueue,
): Promise<(() => Promise<Revocation>) | null> {
  const { workspaceId, batchId, mailboxId, migrationId, side } = access
  // In the order of other changes of a batch.
  if (batchId !== null) {
    await lockScheduling(trx)
    await lockBatch(trx, workspaceId, batchId)
  }
  if (!(await markWithdrawn(trx, access.id))) return null
  const erased =
    batchId !== null && mailboxId !== null
      ? await eraseOfMailbox(trx, deps, access, { batchId, id: mailboxId })
      : await eraseOfMigration(trx, deps, access, migrationId ?? '')
  if (!erased) return null
  const { credentialId, pauses } = erased
  const way = credentialId === undefined ? 'password' : 'provider'
  await insertAuditEntries(trx, [
    entryOf(access, 'Withdraw a sign-in to a mailbox', { side, host: access[side].host, way }),
  ])
  if (pauses) await raiseAlert(trx, withdrawalAlert(access))
  if (batchId !== null) {
    await enqueue(trx, deps.scheduler, {})
    await notifyBatch(trx, workspaceId, batchId)
  }
  return credentialId === undefined ? null : deps.eraseCredential(trx, workspaceId, credentialId)
}

async function eraseOfMigration(
  trx: Transaction<DB>,
  { secretKey }: WithdrawDeps,
  access: OwnerAccess,
  id: string,
): Promise<Erased | null> {
  const { workspaceId, side } = access
  const row = await lockMigration(trx, workspaceId, id)
  if (!row?.[side].byOwner) return null
  // The account of the other side stays ready.
  const { sealed: before } = row
  const secrets = before && ifDecryptable(() => decryptSecrets(before, secretKey, id))
  const sealed = secrets && encryptSecrets({ ...secrets, [side]: {} }, secretKey, id)
  const pauses = row.isSynchronized || ['pending', 'running', 'paused'].includes(row.status)
  await saveWithdrawn(trx, id, { ...row, [side]: withdrawn(row[side], pauses) }, sealed)
  if (pauses) {
    await pauseMigration(trx, id)
    const none = { folder: '', uid: null, messageId: null, size: null, attempts: 1 }
    await addErrors(trx, id, [{ ...none, code: WITHDRAWN, message: describeWithdrawal(access) }])
  }
  await notifyMigration(trx, workspaceId, id)
  return { credentialId: row[side].credentialId, pauses }
}

async function eraseOfMailbox(
  trx: Transaction<DB>,
  { secretKey }: WithdrawDeps,
  access: OwnerAccess,
  { batchId, id }: { batchId: string; id: string },
): Promise<Erased | null> {
  const { side } = access
  const row = await lockMailbox(trx, batchId, id)
  const address = row?.[side]
  if (!row || !address?.byOwner) return null
  await pauseMailboxes(trx, batchId, id)
  const { sealed: before } = row
  const passwords = before && ifDecryptable(() => decryptPasswords(before, secretKey, id))
  const sealed = passwords && encryptPasswords({ ...passwords, [side]: '' }, secretKey, id)
  const pauses = row.state !== 'done' && row.state !== 'invalid'
  const { source, destination, state, problem, message } = row
  const shown = pauses
    ? {
        state: 'waiting_for_owner' as const,
        problem: WITHDRAWN,
        message: describeWithdrawal(access),
      }
    : { state, problem, message }
  const sides = { source, destination, [side]: withdrawn(address, state !== 'done') }
  await saveWithdrawnMailbox(trx, id, { ...sides, ...shown }, sealed)
  // Its migrations get the passwords again at their next start.
  for (const migrationId of [row.migrationId, row.dryRunId])
    if (migrationId !== null) await eraseSecret(trx, migrationId)
  return { credentialId: address.credentialId, pauses }
}

/** The account without the sign-in of its owner. */
function withdrawn(
  { byOwner: _byOwner, credentialId: _credentialId, ...address }: Partial<AccountAddress>,
  waits: boolean,
): Partial<AccountAddress> {
  return { ...address, ...(waits && { waitsForOwner: true as const }) }
}

function entryOf(access: OwnerAccess, what: string, details: object): AuditEntry {
  const { workspaceId, side, batchId, mailboxId, migrationId } = access
  return {
    workspaceId,
    actorId: null,
    actorEmail: OWNER_ACTOR,
    token: null,
    what,
    route: `POST ${OWNER_ACCESS_PATH}/:token`,
    details: {
      user: access[side].user,
      ...details,
      ...(batchId === null ? { migrationId } : { batchId, mailboxId }),
    },
  }
}
