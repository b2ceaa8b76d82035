import type { Kysely, Transaction } from 'kysely'
import type { Allowance } from '../../../accounts/own-data/account-quotas.ts'
import type { Enqueue, Job } from '../../../jobs/job.ts'
import { ifDecryptable } from '../../../store/encryption.ts'
import type { DB } from '../../../store/tables.ts'
import {
  countThisMonth,
  insertMigration,
  lockMonth,
  reopenMigration,
  type AccountAddress,
} from '../../migrations.sql.ts'
import {
  encryptSecrets,
  monthsOf,
  noProgress,
  type MigrationData,
  type Secrets,
} from '../../submit-migration.ts'
import { BATCH_LIMITS } from '../limits.ts'
import { markProblem, markStarted } from '../batch-progress.sql.ts'
import { decryptPasswords } from '../passwords.ts'
import { notifyBatch } from '../batches.sql.ts'
import { saveSyncs } from '../../sync/syncs.sql.ts'
import {
  listCandidates,
  listOpenMigrations,
  lockScheduling,
  type Candidate,
} from './batch-schedule.sql.ts'
import { createLoad } from './load.ts'

export type StartDeps = {
  db: Kysely<DB>
  secretKey: string
  /** Migrations at once over all instances. */
  concurrency: number
  job: Job<MigrationData>
}

/**
 * Starts queued mailboxes as far as the limits of their hosts and of their accounts allow: each
 * gets a migration, new or continued, in the queue of migrations. One instance at a time does this,
 * so that the limits hold over all of them. @returns how many it started
 */
export async function startMailboxes(deps: StartDeps, enqueue: Enqueue): Promise<number> {
  return deps.db.transaction().execute(async (trx) => {
    await lockScheduling(trx)
    const load = createLoad(
      await listOpenMigrations(trx),
      deps.concurrency * BATCH_LIMITS.startedPerSlot,
    )
    const months: Months = { workspaces: new Map(), accounts: new Map() }
    const changed = new Map<string, string>()
    let started = 0
    while (started < BATCH_LIMITS.maxStartsPerPass) {
      const left = BATCH_LIMITS.maxStartsPerPass - started
      const candidates = await listCandidates(trx, load.saturated(), left)
      for (const candidate of candidates) {
        // A full host or account is left out of the next candidates.
        if (!load.take(candidate)) continue
        if (await startOne(trx, deps, enqueue, candidate, months)) started += 1
        else load.release(candidate)
        changed.set(candidate.batchId, candidate.workspaceId)
      }
      // There are no others.
      if (candidates.length < left) break
    }
    for (const [batchId, workspaceId] of changed) await notifyBatch(trx, workspaceId, batchId)
    return started
  })
}

/** The months of the workspaces and accounts of which mailboxes were started. */
type Months = { workspaces: Map<string, Allowance>; accounts: Map<string, Allowance> }

/** @returns false when it was not started, because it then needs attention */
async function startOne(
  trx: Transaction<DB>,
  { secretKey, job }: StartDeps,
  enqueue: Enqueue,
  candidate: Candidate,
  months: Months,
): Promise<boolean> {
  const { id, pass, workspaceId, sealed } = candidate
  if (sealed === null) {
    await markProblem(trx, [id], { code: 'no_password', message: 'Its passwords were deleted.' })
    return false
  }
  const secrets = readSecrets({ ...candidate, sealed }, secretKey)
  if (secrets === null) {
    const message = 'Its passwords cannot be decrypted with this SECRET_KEY. Enter them again.'
    await markProblem(trx, [id], { code: 'no_password', message })
    return false
  }
  const known = pass === 'sync' ? candidate.migrationId : candidate.dryRunId
  if (known === null && pass === 'sync' && !(await takeOfMonth(trx, candidate, months)))
    return false
  const migrationId = known ?? (await insertFor(trx, candidate, secretKey, secrets))
  if (known === null && pass === 'sync') await startSync(trx, candidate, migrationId)
  if (known !== null)
    await reopenMigration(trx, known, candidate, encryptSecrets(secrets, secretKey, known))
  await markStarted(trx, id, pass, migrationId)
  await enqueue(trx, job, { migrationId, workspaceId })
  return true
}

/** One mailbox with unreadable passwords must not stop the others. */
function readSecrets(
  { id, sealed, source, destination }: Candidate & { sealed: string },
  secretKey: string,
): Secrets | null {
  const passwords = ifDecryptable(() => decryptPasswords(sealed, secretKey, id))
  if (passwords === null) return null
  const secretOf = (address: AccountAddress, password: string) =>
    address.credentialId === undefined ? { password } : {}
  return {
    source: secretOf(source, passwords.source),
    destination: secretOf(destination, passwords.destination),
  }
}

/** A mailbox of a batch that is synchronized: its next pass comes after this one. */
async function startSync(
  trx: Transaction<DB>,
  { workspaceId, syncMinutes, syncDeletions }: Candidate,
  migrationId: string,
): Promise<void> {
  if (syncMinutes === null) return
  const deletions = syncDeletions ?? 'record'
  const settings = { workspaceId, everyMinutes: syncMinutes, deletions, nextAt: null }
  await saveSyncs(trx, [migrationId], settings)
}

async function insertFor(
  trx: Transaction<DB>,
  { batchId, workspaceId, source, destination, options, pass }: Candidate,
  secretKey: string,
  secrets: Secrets,
): Promise<string> {
  const { destPrefix, ...copied } = options
  const row = {
    batchId,
    workspaceId,
    source,
    destination,
    destPrefix,
    // All folders, also those that a later pass finds.
    folders: [],
    options: { ...copied, dryRun: pass === 'dry_run' },
    progress: noProgress([]),
  }
  return insertMigration(trx, row, (id) => encryptSecrets(secrets, secretKey, id))
}

/** Counts a mailbox toward the month; false when the plan allows no more. */
async function takeOfMonth(
  trx: Transaction<DB>,
  candidate: Candidate,
  months: Months,
): Promise<boolean> {
  const both = await readMonths(trx, candidate, months)
  const full = both.find(({ used, limit }) => used >= limit)
  if (!full) {
    for (const month of both) month.used += 1
    return true
  }
  const message = `The plan allows ${full.limit} migrations per month. Retry next month, or change the plan.`
  await markProblem(trx, [candidate.id], { code: 'monthly_limit', message })
  return false
}

/** Reads the months of a workspace and of its account once; starts are then counted here. */
async function readMonths(
  trx: Transaction<DB>,
  { workspaceId, responsibleId }: Candidate,
  { workspaces, accounts }: Months,
): Promise<Allowance[]> {
  const known = [workspaces.get(workspaceId), accounts.get(responsibleId)]
  if (known.every((month) => month !== undefined)) return known
  await lockMonth(trx, workspaceId)
  const [own, shared] = monthsOf(await countThisMonth(trx, workspaceId))
  const account = accounts.get(responsibleId) ?? shared
  workspaces.set(workspaceId, own)
  accounts.set(responsibleId, account)
  return [own, account]
}
