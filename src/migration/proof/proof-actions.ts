import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../../errors.ts'
import type { Job } from '../../jobs/job.ts'
import type { Queue } from '../../jobs/queue.ts'
import { KEEP_DAYS } from '../../mail-credentials/limits.ts'
import { extendCredentials } from '../../mail-credentials/mail-credentials.sql.ts'
import type { OpenTokens } from '../../mail-credentials/token-source.ts'
import type { DB } from '../../store/tables.ts'
import { requireSecret } from '../mailbox-accounts.ts'
import { requireBatch } from '../batches/find-batch.ts'
import { notifyBatch } from '../batches/batches.sql.ts'
import { renewSides } from '../renew-sides.ts'
import {
  credentialsOf,
  findMigration,
  hasSecret,
  notifyMigration,
  saveSides,
} from '../migrations.sql.ts'
import { encryptSecrets } from '../submit-migration.ts'
import { listStarted } from '../sync/syncs.sql.ts'
import type { ProofLevel } from './proof-document.ts'
import type { ProofData } from './proof-job.ts'
import type { ProofRequest } from './shapes.ts'
import { countBatchProofs, requestProofs } from './proofs.sql.ts'

export type ProofActionDeps = {
  db: Kysely<DB>
  queue: Queue
  secretKey: string
  openTokens: OpenTokens
  proofJob: Job<ProofData>
}

type Name = { workspaceId: string; id: string }

/**
 * Requests the proof of a migration that has ended.
 * @throws Fault `not_found`, `conflict` for a dry run and while it runs, `invalid_request` without
 *   passwords when they were deleted
 */
export async function requestProof(
  { db, queue, secretKey, openTokens, proofJob }: ProofActionDeps,
  { workspaceId, id }: Name,
  { level = 'headers', source, destination }: ProofRequest,
): Promise<void> {
  const row = await findMigration(db, workspaceId, id)
  if (!row) throw new Fault('not_found', 'The migration was not found.')
  if (row.options.dryRun) throw new Fault('conflict', 'A dry run copies nothing to prove.')
  if (row.status !== 'completed' && row.status !== 'failed')
    throw new Fault('conflict', 'The migration has not ended. Request the proof afterwards.')
  const given = source || destination ? { source, destination } : null
  const renewed = given && row.batchId === null ? await renewSides(openTokens, row, given) : null
  await db.transaction().execute(async (trx) => {
    if (renewed) await saveSides(trx, renewed.row, encryptSecrets(renewed.secrets, secretKey, id))
    else if (row.batchId === null && !(await hasSecret(trx, id))) requireSecret({}, 'source')
    if (row.batchId !== null) await requirePasswords(trx, { workspaceId, id: row.batchId })
    await extendCredentials(trx, workspaceId, credentialsOf(renewed?.row ?? row), KEEP_DAYS.used)
    await requestProofs(trx, [id], { workspaceId, level })
    await queue.enqueue(trx, proofJob, { migrationId: id, workspaceId })
    await notifyMigration(trx, workspaceId, id)
  })
}

/**
 * Requests the proofs of all mailboxes of a batch that were copied.
 * @returns how many
 * @throws Fault `not_found`, `conflict` when it is finished, nothing was copied, or proofs are being
 *   made
 */
export async function requestBatchProof(
  { db, queue, proofJob }: Pick<ProofActionDeps, 'db' | 'queue' | 'proofJob'>,
  name: Name,
  level: ProofLevel,
): Promise<number> {
  return db.transaction().execute(async (trx) => {
    await requirePasswords(trx, name)
    const { waiting } = await countBatchProofs(trx, name.id)
    if (waiting > 0)
      throw new Fault('conflict', `${waiting} proofs of this batch are being made already.`)
    const ids = await requestProofsOfBatch(trx, name, level, { queue, proofJob })
    if (ids === 0) throw new Fault('conflict', 'No mailbox of this batch was copied yet.')
    return ids
  })
}

/** Requests the proofs of a batch within a transaction. @returns how many */
export async function requestProofsOfBatch(
  trx: Transaction<DB>,
  { workspaceId, id }: Name,
  level: ProofLevel,
  { queue, proofJob }: { queue: Pick<Queue, 'enqueue'>; proofJob: Job<ProofData> },
): Promise<number> {
  const ids = await listStarted(trx, id)
  await requestProofs(trx, ids, { workspaceId, level })
  for (const migrationId of ids) await queue.enqueue(trx, proofJob, { migrationId, workspaceId })
  await notifyBatch(trx, workspaceId, id)
  return ids.length
}

async function requirePasswords(trx: Transaction<DB>, name: Name): Promise<void> {
  const { finishedAt } = await requireBatch(trx, name)
  if (finishedAt)
    throw new Fault('conflict', 'The batch is finished and its passwords were deleted.')
}
