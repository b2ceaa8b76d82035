import type { Kysely, Transaction } from 'kysely'
import type { Plan } from '../config.ts'
import { scarcerOf, type Allowance } from '../accounts/own-data/account-quotas.ts'
import { Fault } from '../errors.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { EncryptedColumn } from '../store/key-rotation.ts'
import { encrypt, decrypt } from '../store/encryption.ts'
import type { DB } from '../store/tables.ts'
import { isInbox } from './engine/plan/mapping.ts'
import type { MigrationProgress } from './engine/progress/progress.ts'
import { renewSides } from './renew-sides.ts'
import type { NewMigration, Retry } from './shapes.ts'
import { KEEP_DAYS } from '../mail-credentials/limits.ts'
import { extendCredentials } from '../mail-credentials/mail-credentials.sql.ts'
import { SYNC_LIMITS } from './sync/limits.ts'
import { saveSyncs } from './sync/syncs.sql.ts'
import {
  openAccount,
  splitConnection,
  type AccountDeps,
  type AccountSecret,
} from './mailbox-accounts.ts'
import {
  credentialsOf,
  countThisMonth,
  findMigration,
  insertMigration,
  lockMonth,
  requeueMigration,
  type MigrationRow,
  type MonthUsage,
} from './migrations.sql.ts'

/** The account that answers for `workspaceId` is the one whose share of the slots it uses. */
export type MigrationData = { migrationId: string; workspaceId?: string }
export type SubmitDeps = AccountDeps & {
  db: Kysely<DB>
  queue: Queue
  job: Job<MigrationData>
  secretKey: string
}

/** Migrations per calendar month (UTC), of a workspace and of an account over all its workspaces. */
export const MAX_MIGRATIONS_PER_MONTH: Record<Plan, number> = {
  free: 1,
  starter: 5,
  pro: 20,
  business: 50,
  enterprise: Infinity,
}

/** The secrets of both accounts. */
export type Secrets = { source: AccountSecret; destination: AccountSecret }

export function encryptSecrets(secrets: Secrets, secretKey: string, id: string): string {
  return encrypt(JSON.stringify(secrets), secretKey, contextOf(id))
}

/**
 * Decrypts the secrets of a migration.
 * @throws Fault `internal` when they were encrypted with another key
 */
export function decryptSecrets(sealed: string, secretKey: string, id: string): Secrets {
  return JSON.parse(decrypt(sealed, secretKey, contextOf(id))) as Secrets
}

/** Secrets are stored only until their migration has ended. */
export const ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  { table: 'migration_secret', id: 'migration_id', column: 'sealed', contextOf },
]

function contextOf(id: string): string {
  return `migration/${id}`
}

/**
 * Checks, stores and enqueues a migration.
 * @param signal aborts the lookup of the hosts
 * @throws Fault `invalid_request`, `target_not_allowed`, `upstream_*`, `monthly_limit`; then
 *   nothing is stored or counted
 */
export async function submitMigration(
  deps: SubmitDeps,
  workspaceId: string,
  request: NewMigration,
  signal: AbortSignal,
): Promise<MigrationRow> {
  const { db, queue, job, secretKey } = deps
  const { folders, deduplicate, allMailOnce, dryRun, folderMap, sync } = request
  if (sync && dryRun) throw new Fault('invalid_request', 'A dry run cannot be synchronized.')
  const [source, destination] = [
    splitConnection(request.source, 'source'),
    splitConnection(request.destination, 'destination'),
  ]
  const waits = waitsForOwner({ source: source.reached, destination: destination.reached })
  if (waits && dryRun) throw dryRunCannotWait()
  if (folders.length === 0 && !source.reached.waitsForOwner) {
    const details = [{ path: 'folders', message: 'must have at least one folder' }]
    throw new Fault('invalid_request', 'Name at least one folder.', { details })
  }
  const destPrefix = prefixOf(request.destPrefix)
  requireDistinct(folders)
  // Checked before the hosts are looked up, so that an account at its limit gets this error first.
  if (!dryRun) await db.transaction().execute((trx) => requireLeft(trx, workspaceId))
  const checked = { workspaceId, signal }
  await openAccount({ ...source.reached, ...source.secret }, deps, { ...checked, side: 'source' })
  await openAccount({ ...destination.reached, ...destination.secret }, deps, {
    ...checked,
    side: 'destination',
  })
  const row = {
    workspaceId,
    source: source.reached,
    destination: destination.reached,
    destPrefix,
    folders,
    options: {
      deduplicate,
      allMailOnce,
      dryRun,
      folderMap,
      ...(folders.length === 0 && { specialUse: true }),
    },
    progress: noProgress(folders),
    ...(waits && { status: 'paused' as const }),
  }
  const secrets = { source: source.secret, destination: destination.secret }
  return db.transaction().execute(async (trx) => {
    if (!dryRun) await requireLeft(trx, workspaceId)
    const keptDays = KEEP_DAYS.used + (sync ? SYNC_LIMITS.days : 0)
    await extendCredentials(trx, workspaceId, credentialsOf(row), keptDays)
    const id = await insertMigration(trx, row, (newId) => encryptSecrets(secrets, secretKey, newId))
    if (sync) {
      const { everyMinutes, deletions = 'record' } = sync
      await saveSyncs(trx, [id], { workspaceId, everyMinutes, deletions, nextAt: null })
    }
    if (!waits) await queue.enqueue(trx, job, { migrationId: id, workspaceId })
    return (await findMigration(trx, workspaceId, id)) as MigrationRow
  })
}

/** Whether the owner of a mailbox has not signed in yet. */
export const waitsForOwner = ({
  source,
  destination,
}: Pick<MigrationRow, 'source' | 'destination'>) =>
  Boolean(source.waitsForOwner ?? destination.waitsForOwner)

const dryRunCannotWait = () =>
  new Fault('invalid_request', 'A dry run cannot wait for the owner of a mailbox.')

/** The month of a workspace, and that of its account. */
export function monthsOf(usage: MonthUsage): [workspace: Allowance, account: Allowance] {
  return [
    { used: usage.count, limit: MAX_MIGRATIONS_PER_MONTH[usage.plan] },
    { used: usage.accountCount, limit: MAX_MIGRATIONS_PER_MONTH[usage.accountPlan] },
  ]
}

/**
 * Locks the account’s count of migrations until the transaction ends.
 * @throws Fault `monthly_limit`
 */
async function requireLeft(trx: Transaction<DB>, workspaceId: string): Promise<void> {
  await lockMonth(trx, workspaceId)
  const usage = await countThisMonth(trx, workspaceId)
  const { used, limit } = scarcerOf(...monthsOf(usage))
  if (used < limit) return
  throw new Fault('monthly_limit', `Monthly limit reached (${limit})`, {
    retryAfter: usage.secondsLeft,
  })
}

/** Normalizes a prefix: `/Old//2024` becomes `Old/2024/`, and nothing stays "". */
function prefixOf(given: string): string {
  const parts = given.split('/').map((part) => part.trim())
  const named = parts.filter((part) => part !== '')
  if (named.length === 0) return ''
  return `${named.join('/')}/`
}

/** Rejects INBOX in two spellings, because its name is case-insensitive (RFC 3501, 5.1). */
function requireDistinct(folders: readonly string[]): void {
  if (folders.filter(isInbox).length <= 1) return
  const details = [{ path: 'folders', message: 'must name every folder once' }]
  throw new Fault('invalid_request', 'folders must contain every folder only once.', { details })
}

/** The progress of a migration that was not started. */
export function noProgress(folders: readonly string[]): MigrationProgress {
  return {
    currentFolder: '',
    foldersDone: 0,
    foldersTotal: folders.length,
    messagesDone: 0,
    messagesTotal: 0,
    skippedByDedup: 0,
    folderProgress: {},
    errorCount: 0,
    bytesDone: 0,
    bytesTotal: null,
    messagesPerSecond: 0,
    bytesPerSecond: 0,
    etaSeconds: null,
    throttledUntil: null,
    warnings: [],
    notes: [],
  }
}

/**
 * Enqueues a failed migration again, or lets it wait for the owner of a mailbox. It retries failed
 * messages and keeps copied ones.
 * @throws Fault `not_found`, `conflict` when it has not failed
 */
export async function retryMigration(
  deps: SubmitDeps,
  workspaceId: string,
  id: string,
  request: Retry,
): Promise<MigrationRow> {
  const { db, queue, job, secretKey, openTokens } = deps
  const row = await findMigration(db, workspaceId, id)
  if (!row) throw new Fault('not_found', 'The migration was not found.')
  if (row.batchId !== null)
    throw new Fault('conflict', 'This migration is part of a batch. Retry it there.')
  const { row: again, secrets } = await renewSides(openTokens, row, request)
  const waits = waitsForOwner(again)
  if (waits && row.options.dryRun) throw dryRunCannotWait()
  return db.transaction().execute(async (trx) => {
    await extendCredentials(trx, workspaceId, credentialsOf(again), KEEP_DAYS.used)
    const sealed = encryptSecrets(secrets, secretKey, id)
    if (!(await requeueMigration(trx, again, sealed, waits ? 'paused' : 'pending'))) {
      throw new Fault(
        'conflict',
        `Only a failed migration can be retried. This one is ${row.status}.`,
      )
    }
    if (!waits) await queue.enqueue(trx, job, { migrationId: id, workspaceId })
    return (await findMigration(trx, workspaceId, id)) as MigrationRow
  })
}
