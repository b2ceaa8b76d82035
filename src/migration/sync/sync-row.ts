import type { SyncChanges, SyncOptions } from '../engine/sync/pass.ts'

/** How often a mailbox is synchronized, and what happens with deletions. */
export type SyncSettings = { everyMinutes: number; deletions: SyncOptions['deletions'] }

/** The standing synchronization of a mailbox. */
export type SyncRow = SyncSettings & {
  migrationId: string
  /** Null while a pass waits or runs, or a person has to act first. */
  nextAt: Date | null
  until: Date
  passes: number
  lastStartedAt: Date | null
  lastEndedAt: Date | null
  lastChanges: SyncChanges | null
  lastError: string | null
  /** Deletions that a person must confirm. */
  heldDeletions: number
}
