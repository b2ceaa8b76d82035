import type { CopyFailure } from './engine/journal/journal.ts'
import type { Throughput } from './run/throughput.ts'
import type { AccountAddress, MigrationRow } from './store.ts'
import { presentSync } from './sync/view.ts'

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

export function presentMigrationWithErrors(row: MigrationRow, errors: readonly CopyFailure[]) {
  const migration = presentMigration(row)
  return { ...migration, progress: { ...migration.progress, errors: errors.map(withoutNulls) } }
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
