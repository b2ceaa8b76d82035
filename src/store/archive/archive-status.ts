import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { giveToFolderOwner } from '../file.ts'

/** The state of the archive, as the running service sees it. Times are ISO 8601. */
export type ArchiveStatus = {
  /** The folder, or `s3://bucket/prefix`. */
  archive: string
  chain: string | null
  /** Everything committed until this moment is in the archive; null without a base backup. */
  archivedUntil: string | null
  /** Bytes of WAL that wait to be archived. */
  pendingBytes: number
  /** The end of the newest base backup. */
  baseAt: string | null
  baseBytes: number
  /** Since when the archive cannot be written, and why. */
  failingSince: string | null
  problem: string | null
  /** When this was written. */
  at: string
}

const fileOf = (dataDir: string) => join(dataDir, 'backup-status.json')

/** Saves the state for commands and for other processes of the service. */
export function saveStatus(dataDir: string, status: ArchiveStatus): void {
  const file = fileOf(dataDir)
  // Written every few seconds: not durable, but complete.
  writeFileSync(`${file}.new`, `${JSON.stringify(status, null, 2)}\n`)
  giveToFolderOwner(`${file}.new`)
  renameSync(`${file}.new`, file)
}

/** The state that the service saved last; null where it has never archived. */
export function readStatus(dataDir: string): ArchiveStatus | null {
  try {
    return JSON.parse(readFileSync(fileOf(dataDir), 'utf8')) as ArchiveStatus
  } catch {
    return null
  }
}
