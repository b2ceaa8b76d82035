import { insertBatch } from '../../migration/batches/batches.sql.ts'
import { insertMailboxes } from '../../migration/batches/mailboxes/batch-mailboxes.sql.ts'
import type { MigrationProgress } from '../../migration/engine/progress/progress.ts'
import { insertMigration, type AccountAddress } from '../../migration/migrations.sql.ts'
import { noProgress } from '../../migration/submit-migration.ts'
import { newUuid } from '../../store/uuid.ts'
import { insertMigrationError, rewrite } from '../demo.sql.ts'
import { daysAgo, type Seed } from './seed-context.ts'
import { DAY_MS, MINUTE_MS, SECOND_MS } from '../../time.ts'

const OLD = 'imap.oldhost.example'
const NEW = 'mail.seagull.example'
const MESSAGE_BYTES = 41_300

type Folders = Record<string, number>

const account = (host: string, user: string): AccountAddress => ({
  host,
  port: 993,
  secure: true,
  user,
  tlsVerify: true,
})

/** A migration that has ended, one that failed, and the move of a whole company. */
export async function seedMigrations(seed: Seed): Promise<void> {
  await seedFinished(seed)
  await seedFailed(seed)
  await seedBatch(seed)
}

async function seedFinished(seed: Seed): Promise<void> {
  const folders = {
    INBOX: 8_412,
    Sent: 3_907,
    'Archive/2024': 12_260,
    'Archive/2025': 9_733,
    Drafts: 12,
  }
  const id = await insert(seed, 'anna@seagull.example', folders)
  await finish(seed, id, { folders, startedAt: daysAgo(12), minutes: 71 })
}

async function seedFailed(seed: Seed): Promise<void> {
  const { db } = seed
  const folders = { INBOX: 2_204, Sent: 1_130 }
  const id = await insert(seed, 'info@seagull.example', folders)
  const startedAt = daysAgo(3)
  const message = `${OLD}:993 rejected the password of info@seagull.example: [AUTHENTICATIONFAILED] Invalid credentials. Check it, or create an app password.`
  const progress = { ...noProgress(Object.keys(folders)), errorCount: 1 }
  await rewrite(
    db,
    'migration',
    {
      status: 'failed',
      error_count: 1,
      progress: JSON.stringify(progress),
      created_at: startedAt,
      queued_at: startedAt,
      started_at: startedAt,
      completed_at: new Date(startedAt.getTime() + 2 * SECOND_MS),
      run: 1,
    },
    { id },
  )
  await insertMigrationError(db, { migrationId: id, code: 'sign_in', message })
}

const COMPANY = [
  ['ben', 6_120],
  ['clara', 4_873],
  ['dario', 2_950],
  ['orders', 18_404],
  ['press', 1_206],
  ['accounting', 9_318],
  ['events', 740],
  ['returns', 2_211],
] as const

/** The move of a company: most mailboxes are in sync, one needs another password. */
async function seedBatch(seed: Seed): Promise<void> {
  const { db, workspaceId } = seed
  const options = {
    specialUse: true,
    deduplicate: false,
    allMailOnce: false,
    destPrefix: '',
    folderMap: {},
  }
  const batchId = await insertBatch(db, {
    workspaceId,
    name: 'Move to our own server',
    options,
    sourceLimit: 4,
    destinationLimit: 4,
  })
  await rewrite(db, 'migration_batch', { created_at: daysAgo(6) }, { id: batchId })
  const mailboxes = COMPANY.map(([name], index) => ({
    id: newUuid(),
    line: index + 2,
    source: account(OLD, `${name}@seagull.example`),
    destination: account(NEW, `${name}@seagull.example`),
    message: null,
    warning: null,
    sealed: '',
  }))
  await insertMailboxes(db, batchId, mailboxes)
  for (const [index, [name, messages]] of COMPANY.entries()) {
    const mailbox = mailboxes[index]
    if (!mailbox) continue
    const isRejected = name === 'press'
    const folders: Folders = isRejected
      ? {}
      : { INBOX: Math.round(messages * 0.6), Sent: Math.round(messages * 0.4) }
    const id = isRejected ? null : await insert(seed, `${name}@seagull.example`, folders, batchId)
    const syncedAt = daysAgo(0.02 + index * 0.004)
    if (id)
      await finish(seed, id, {
        folders,
        startedAt: daysAgo(5.5 - index * 0.2),
        minutes: 9 + index * 6,
      })
    await rewrite(
      db,
      'batch_mailbox',
      isRejected
        ? {
            state: 'needs_attention',
            problem: 'sign_in',
            problem_host: OLD,
            message: `${OLD} rejected the password: [AUTHENTICATIONFAILED] Invalid credentials.`,
            changed_at: daysAgo(4.1),
          }
        : {
            state: 'in_sync',
            verified: true,
            migration_id: id,
            messages_done: sum(folders),
            messages_total: sum(folders),
            bytes_done: sum(folders) * MESSAGE_BYTES,
            bytes_total: sum(folders) * MESSAGE_BYTES,
            passes: 4,
            synced_at: syncedAt,
            changed_at: syncedAt,
          },
      { id: mailbox.id },
    )
  }
}

async function insert(
  { db, workspaceId }: Seed,
  user: string,
  folders: Folders,
  batchId?: string,
): Promise<string> {
  const names = Object.keys(folders)
  const row = {
    workspaceId,
    source: account(OLD, user),
    destination: account(NEW, user),
    destPrefix: '',
    folders: names,
    options: { deduplicate: false, allMailOnce: false, dryRun: false, folderMap: {} },
    progress: noProgress(names),
    ...(batchId !== undefined && { batchId }),
  }
  return insertMigration(db, row, () => '')
}

type Finished = { folders: Folders; startedAt: Date; minutes: number }

async function finish(
  { db }: Seed,
  id: string,
  { folders, startedAt, minutes }: Finished,
): Promise<void> {
  const completedAt = new Date(startedAt.getTime() + minutes * MINUTE_MS)
  const messages = sum(folders)
  const progress: MigrationProgress = {
    ...noProgress(Object.keys(folders)),
    foldersDone: Object.keys(folders).length,
    messagesDone: messages,
    messagesTotal: messages,
    bytesDone: messages * MESSAGE_BYTES,
    bytesTotal: messages * MESSAGE_BYTES,
    etaSeconds: 0,
    folderProgress: Object.fromEntries(
      Object.entries(folders).map(([path, count]) => [
        path,
        {
          lastUid: count + 37,
          doneCount: count,
          total: count,
          bytes: count * MESSAGE_BYTES,
          bytesTotal: count * MESSAGE_BYTES,
          destination: path,
        },
      ]),
    ),
  }
  const steps = 120
  const points = Array.from({ length: steps }, (_, step) => {
    const share = (messages / steps) * (0.7 + wander(step) * 0.6)
    return [
      step,
      Math.round(share),
      Math.round(share * MESSAGE_BYTES),
      step > 70 && step < 74 ? 1 : 0,
      0,
    ]
  })
  const throughput = {
    startedAt: startedAt.getTime(),
    stepSeconds: Math.round((minutes * 60) / steps),
    points,
  }
  await rewrite(
    db,
    'migration',
    {
      status: 'completed',
      progress: JSON.stringify(progress),
      throughput: JSON.stringify(throughput),
      created_at: new Date(startedAt.getTime() - 20 * SECOND_MS),
      queued_at: startedAt,
      started_at: startedAt,
      completed_at: completedAt,
      counted_at: new Date(startedAt.getTime() - DAY_MS),
      run: 1,
    },
    { id },
  )
}

/** A number from 0 to 1 without a visible pattern, the same at each start. */
const wander = (n: number) => Math.abs(Math.sin(n * 12.9898) * 43_758.5453) % 1

const sum = (folders: Folders) => Object.values(folders).reduce((total, count) => total + count, 0)
