import type { CopyFailure } from './engine/journal/journal.ts'
import type { Throughput } from './run/throughput.ts'
import { ERRORS_KEPT, type AccountAddress, type MigrationRow } from './migrations.sql.ts'
import { presentSync } from './sync/sync-view.ts'

/**
 * Presents a migration for the API. Its fields are listed here, because events are not serialized
 * by a schema that drops the others.
 */
export function presentMigration(row: MigrationRow) {
  const {
    id,
    status,
    source,
    destination,
    destPrefix,
    folders,
    options,
    progress,
    errorCount,
    queue,
    sync,
  } = row
  const { createdAt, startedAt, completedAt } = row
  // `errorCount` stands beside the progress, because failures outside a run are not part of the
  // progress.
  const { errorCount: _, ...shownProgress } = progress
  return {
    migrationId: id,
    status,
    destPrefix,
    folders,
    ...options,
    specialUse: options.specialUse ?? false,
    batchId: row.batchId,
    errorCount,
    createdAt,
    startedAt,
    completedAt,
    queue,
    sync: sync && presentSync(sync),
    progress: shownProgress,
    srcHost: source.host,
    srcUser: source.user,
    dstHost: destination.host,
    dstUser: destination.user,
    srcSignIn: presentSignIn(source),
    dstSignIn: presentSignIn(destination),
    totalFolders: row.folders.length,
    totalMessages: progress.messagesTotal,
  }
}

function presentSignIn({ administrator, credentialId, waitsForOwner, byOwner }: AccountAddress) {
  return {
    administrator: administrator?.user ?? null,
    credentialId: credentialId ?? null,
    waitsForOwner: waitsForOwner ?? false,
    byOwner: byOwner ?? false,
  }
}

/**
 * Presents a migration with its errors, and as many errors as it counts.
 * @param errors those that its progress counts, up to `ERRORS_KEPT`. An error that is not stored yet
 *   is not counted yet.
 */
export function presentMigrationWithErrors(row: MigrationRow, errors: readonly CopyFailure[]) {
  const migration = presentMigration(row)
  const errorCount = errors.length < ERRORS_KEPT ? errors.length : row.errorCount
  const progress = { ...migration.progress, errors: errors.map(withoutNulls) }
  return { ...migration, errorCount, progress }
}

function withoutNulls(failure: CopyFailure): object {
  return Object.fromEntries(Object.entries(failure).filter(([, value]) => value !== null))
}

export function presentThroughput({ startedAt, stepSeconds, points }: Throughput) {
  return {
    startedAt: new Date(startedAt),
    stepSeconds,
    points: points.map(([step, messages, bytes, throttled, lost]) => ({
      step,
      messages,
      bytes,
      throttled: throttled === 1,
      connectionLost: lost === 1,
    })),
  }
}
