import type { MigrationNote } from './context.ts'
import type { MappedFolder } from './plan/mapping.ts'
import type { MigrationProgress } from './progress/progress.ts'
import type { SyncOutcome } from './sync/pass.ts'

/**
 * The result of a run. `completed`: every source message is copied, was already there, or is no
 * longer at the source.
 */
export type MigrationOutcome = {
  state: 'completed' | 'failed'
  progress: MigrationProgress
  /** Source and destination path of each folder. */
  folders: MappedFolder[]
  /** Everything that was not copied exactly. */
  notes: MigrationNote[]
  /** What a pass of a synchronization found; null otherwise. */
  sync: SyncOutcome | null
  /** The error that ended it early; null otherwise. It can be resumed. */
  stopped: { code: string; message: string } | null
}
