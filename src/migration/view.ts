import type { Failure } from './journal.ts'
import type { MigrationRow } from './store.ts'

/** A migration as its owner sees it. */
export function shown(row: MigrationRow) {
  const { id, source, destination, options, progress, ...rest } = row
  return {
    ...rest,
    ...options,
    progress,
    migrationId: id,
    srcHost: source.host,
    srcUser: source.user,
    dstHost: destination.host,
    dstUser: destination.user,
    totalFolders: row.folders.length,
    totalMessages: progress.messagesTotal,
  }
}

export function shownWithErrors(row: MigrationRow, errors: readonly Failure[]) {
  const migration = shown(row)
  return { ...migration, progress: { ...migration.progress, errors: errors.map(withoutNulls) } }
}

function withoutNulls(failure: Failure): object {
  return Object.fromEntries(Object.entries(failure).filter(([, value]) => value !== null))
}
