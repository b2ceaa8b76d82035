import { Type } from 'typebox'
import type { Kysely } from 'kysely'
import { findResponsible } from '../../store/responsible.ts'
import { ConsentNeeded } from '../../mail-credentials/access-token.ts'
import { Fault, messageOf } from '../../errors.ts'
import { defineJob, type Job } from '../../jobs/job.ts'
import type { Logger } from '../../log.ts'
import type { DB } from '../../store/tables.ts'
import { openAccount, type AccountDeps, type AccountSecret } from '../mailbox-accounts.ts'
import { decryptPasswords } from '../batches/passwords.ts'
import { notifyBatch } from '../batches/batches.sql.ts'
import { wakeCutover } from '../cutover/wake.ts'
import { isOfServers } from '../engine/migrate.ts'
import { findCopies, listDeletions } from '../run/copied-messages.sql.ts'
import { loadFolders } from '../run/migration-runs.sql.ts'
import {
  eraseEndedSecret,
  findMigration,
  listErrors,
  notifyMigration,
  type AccountAddress,
  type MigrationRow,
} from '../migrations.sql.ts'
import { decryptSecrets, type Secrets } from '../submit-migration.ts'
import { findSync } from '../sync/syncs.sql.ts'
import type { ProofAccount } from './proof-document.ts'
import { PROOF_LIMITS } from './limits.ts'
import { makeProof } from './make-proof.ts'
import {
  claimProof,
  endProof,
  findSubject,
  saveProofProgress,
  type ProofRow,
  type ProofSubject,
} from './proofs.sql.ts'

export type ProofData = { migrationId: string; workspaceId: string }

export type ProofJobDeps = AccountDeps & {
  db: Kysely<DB>
  secretKey: string
  /** Enqueued when the proof of a mailbox of a batch has ended. */
  cutoverJob?: () => Job
}

/** How often a proof is tried again after an error of ours, such as a database that was away. */
const MAX_RETRIES = 5

/** Makes requested proofs, four at a time in the whole installation; accounts take turns. */
export function proofJob(deps: ProofJobDeps): Job<ProofData> {
  return defineJob({
    name: 'migration.proof',
    schema: Type.Object({ migrationId: Type.String(), workspaceId: Type.String() }),
    concurrency: PROOF_LIMITS.concurrency,
    accountOf: ({ workspaceId }, db) => findResponsible(db, workspaceId),
    workspaceOf: ({ workspaceId }) => workspaceId,
    uniqueBy: ({ migrationId }) => migrationId,
    deadline: PROOF_LIMITS.deadlineSeconds,
    retry: { limit: MAX_RETRIES, delay: 2, maxDelay: 60 },
    async run({ migrationId }, { signal, log, enqueue, attempt }) {
      const proof = await claimProof(deps.db, migrationId)
      if (!proof) return
      const isLast = attempt > MAX_RETRIES
      const batchId = await runProof(proof, isLast, deps, signal, log.child({ migrationId }))
      if (batchId !== null && deps.cutoverJob)
        await wakeCutover(deps.db, batchId, { enqueue, job: deps.cutoverJob() })
    },
  })
}

/** @returns the batch of the migration */
async function runProof(
  proof: ProofRow,
  isLast: boolean,
  deps: ProofJobDeps,
  signal: AbortSignal,
  log: Logger,
): Promise<string | null> {
  const { db } = deps
  const { migrationId, workspaceId } = proof
  const row = await findMigration(db, workspaceId, migrationId)
  const subject = await findSubject(db, migrationId)
  if (!row || !subject) return null
  const result = await readAndCompare(proof, row, subject, deps, signal, log).catch(
    (error: unknown) => {
      if (!isLast || signal.aborted) throw error
      log.error({ err: error }, 'a proof could not be made')
      return { error: 'The proof could not be made. Request it again.' }
    },
  )
  await db.transaction().execute(async (trx) => {
    // A later request needs the passwords, which were stored for the proof alone.
    if (!(await endProof(trx, proof, result))) return
    if (row.batchId === null && !(await findSync(trx, migrationId)))
      await eraseEndedSecret(trx, migrationId)
    await notifyMigration(trx, workspaceId, migrationId)
    if (row.batchId !== null) await notifyBatch(trx, workspaceId, row.batchId)
  })
  return row.batchId
}

async function readAndCompare(
  proof: ProofRow,
  row: MigrationRow,
  subject: ProofSubject,
  deps: ProofJobDeps,
  signal: AbortSignal,
  log: Logger,
): Promise<Parameters<typeof endProof>[2]> {
  const { db } = deps
  const progress = { messagesRead: 0, messagesTotal: null as number | null }
  const timer = setInterval(() => {
    saveProofProgress(db, proof, progress)
      .then(() => notifyMigration(db, row.workspaceId, row.id))
      .catch((error: unknown) => log.debug(messageOf(error)))
  }, PROOF_LIMITS.progressMs)
  try {
    const secrets = secretsOf(row, subject, deps.secretKey)
    const use = { workspaceId: row.workspaceId, signal, isWork: true }
    const source = await openAccount({ ...row.source, ...secrets.source }, deps, use)
    const destination = await openAccount({ ...row.destination, ...secrets.destination }, deps, use)
    const states = await loadFolders(db, row.id)
    const failures = Map.groupBy(await listErrors(db, row.id), ({ folder }) => folder)
    const document = await makeProof({
      source,
      destination,
      level: proof.level,
      folders: row.folders.length === 0 ? 'all' : row.folders,
      states,
      signal,
      log,
      onRead: () => void (progress.messagesRead += 1),
      onCounted: (messages) => void (progress.messagesTotal = messages),
      about: {
        migration: {
          id: row.id,
          batch: row.batchId,
          createdAt: row.createdAt.toISOString(),
          lastPassAt: subject.lastPassAt?.toISOString() ?? null,
          passes: subject.passes,
        },
        source: accountOf(row.source, secrets.source),
        destination: accountOf(row.destination, secrets.destination),
      },
      historyOf: async (folder) => {
        const state = states.get(folder) ?? null
        const copies = state ? await findCopies(db, row.id, folder, state) : Buffer.alloc(0)
        return { state, copies, failures: failures.get(folder) ?? [] }
      },
      deletions: await listDeletions(db, row.id),
      notes: row.progress.notes,
      allMailOnce: row.options.allMailOnce,
    })
    await saveProofProgress(db, proof, progress)
    return { document: JSON.stringify(document), verdict: document.verdict }
  } catch (error) {
    signal.throwIfAborted()
    if (!isOfServers(error) && !(error instanceof ConsentNeeded)) throw error
    return { error: messageOf(error) }
  } finally {
    clearInterval(timer)
  }
}

function secretsOf(row: MigrationRow, subject: ProofSubject, secretKey: string): Secrets {
  if (subject.sealed === null)
    throw new Fault('conflict', 'The passwords were deleted. Enter them again for the proof.')
  if (subject.mailboxId === null) return decryptSecrets(subject.sealed, secretKey, row.id)
  const { source, destination } = decryptPasswords(subject.sealed, secretKey, subject.mailboxId)
  return { source: { password: source }, destination: { password: destination } }
}

function accountOf(
  { host, port, user, administrator, credentialId }: AccountAddress,
  { accessToken }: AccountSecret,
): ProofAccount {
  const signIn =
    credentialId !== undefined
      ? 'oauth'
      : administrator
        ? 'administrator'
        : accessToken !== undefined
          ? 'access token'
          : 'password'
  return { host, port, user, signIn }
}
