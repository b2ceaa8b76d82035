import type { AccountAddress } from '../migrations.sql.ts'
import type { BatchSyncTotals } from '../sync/syncs.sql.ts'
import type { HeldHost } from './batch-hosts.sql.ts'
import type { MailboxRow } from './mailboxes/batch-mailboxes.sql.ts'
import type { ReadFile, ReadMailbox } from './parse/read-mailboxes.ts'
import type { BatchRow, BatchTotals, ProblemGroup } from './batches.sql.ts'

/** Lines of a list that a preview shows. */
const MAX_PREVIEW_LINES = 500

/** Invalid lines that a response names. */
const MAX_NAMED_PROBLEMS = 100

/** Presents a batch with its sums for a list. */
export function presentBatch(row: BatchRow & BatchTotals) {
  const { workspaceId: _workspace, options, pausedAt, known, unknown, empty, ...fields } = row
  const { syncMinutes, syncDeletions: _deletions, syncUntil: _until, ...shown } = fields
  const { counts } = row
  const mailboxes = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return {
    ...shown,
    ...options,
    isSynchronized: syncMinutes !== null,
    status: statusOf({ pausedAt, finishedAt: row.finishedAt, counts }),
    mailboxes,
    emptyMailboxes: empty,
    etaSeconds: etaOf({ ...row, known, unknown }),
  }
}

export function presentFullBatch(
  row: BatchRow & BatchTotals,
  problems: ProblemGroup[],
  heldHosts: HeldHost[],
  sync: BatchSyncTotals,
) {
  return { ...presentBatch(row), problems, heldHosts, sync: presentSync(row, sync) }
}

function presentSync(
  { syncMinutes, syncDeletions, syncUntil }: BatchRow,
  { synchronized, lastAt, nextAt, failing, deletions }: BatchSyncTotals,
) {
  if (syncMinutes === null) return null
  return {
    everyMinutes: syncMinutes,
    deletions: syncDeletions ?? 'record',
    endsAt: syncUntil,
    synchronized,
    lastPassAt: lastAt,
    nextPassAt: nextAt,
    failing,
    recordedDeletions: deletions,
  }
}

function statusOf({
  pausedAt,
  finishedAt,
  counts,
}: Pick<BatchRow & BatchTotals, 'pausedAt' | 'finishedAt' | 'counts'>) {
  if (finishedAt) return 'finished'
  if (pausedAt) return 'paused'
  if (counts.queued + counts.syncing > 0) return 'running'
  if (counts.needs_attention > 0) return 'needs_attention'
  const isIdle = counts.ready + counts.waiting_for_owner === 0
  return counts.in_sync > 0 && isIdle ? 'in_sync' : 'ready'
}

/** Mailboxes that were not counted yet are assumed to be of average size. */
function etaOf({
  counts,
  messagesDone,
  messagesTotal,
  messagesPerSecond,
  known,
  unknown,
}: BatchTotals): number | null {
  if (messagesPerSecond <= 0 || counts.queued + counts.syncing === 0) return null
  const average = known > 0 ? messagesTotal / known : 0
  const left = Math.max(0, messagesTotal - messagesDone) + unknown * average
  return Math.round(left / messagesPerSecond)
}

export function presentMailbox(row: MailboxRow) {
  const { id, line, state, source, destination, verified, warning, passes, syncedAt } = row
  const { messagesDone, messagesTotal, bytesDone, bytesTotal, errorCount } = row
  const { messagesPerSecond, bytesPerSecond, migrationId, dryRunId } = row
  return {
    id,
    line,
    state,
    source: presentAddress(source),
    destination: presentAddress(destination),
    verified,
    problem: problemOf(row),
    warning,
    messagesDone,
    messagesTotal,
    bytesDone,
    bytesTotal,
    messagesPerSecond,
    bytesPerSecond,
    errorCount,
    isEmpty: (state === 'in_sync' || state === 'done') && messagesTotal === 0,
    passes,
    syncedAt,
    migrationId,
    dryRunId,
  }
}

function problemOf({ problem, problemHost, message }: MailboxRow) {
  return problem === null ? null : { code: problem, host: problemHost, message: message ?? '' }
}

function presentAddress({
  host,
  port,
  secure,
  user,
  tlsVerify = true,
  credentialId,
}: Partial<AccountAddress>) {
  return {
    host: host ?? null,
    port: port ?? null,
    secure: secure ?? null,
    user: user ?? null,
    tlsVerify,
    credentialId: credentialId ?? null,
  }
}

/** Presents a list that was read, without its passwords. */
export function presentList({ format, delimiter, header, sample, columns, mailboxes }: ReadFile) {
  const invalid = mailboxes.filter(({ problem }) => problem !== null).length
  const weight = ({ problem, warning }: ReadMailbox) => (problem ? 0 : warning ? 1 : 2)
  const shown = mailboxes
    .toSorted((a, b) => weight(a) - weight(b) || a.line - b.line)
    .slice(0, MAX_PREVIEW_LINES)
  return {
    format,
    delimiter,
    header,
    sample,
    columns,
    total: mailboxes.length,
    valid: mailboxes.length - invalid,
    invalid,
    mailboxes: shown.map(({ line, source, destination, problem, warning }) => ({
      line,
      source: presentAddress(source),
      destination: presentAddress(destination),
      problem,
      warning,
    })),
  }
}

/** What became of the lines of a list. */
export type AddedLines = {
  added: number
  updated: number
  invalid: { line: number; message: string }[]
}

export function presentAdded({ added, updated, invalid }: AddedLines) {
  return {
    added,
    updated,
    invalid: invalid.length,
    problems: invalid.slice(0, MAX_NAMED_PROBLEMS),
  }
}
