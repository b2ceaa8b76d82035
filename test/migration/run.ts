import type { MigrateOptions } from '../../src/migration/engine/migration-options.ts'
import { createLog } from '../../src/log.ts'
import type { CopyFailure, Journal } from '../../src/migration/engine/journal/journal.ts'
import { createMemoryJournal } from '../../src/migration/engine/journal/memory-journal.ts'
import { WAIT_TIMES, type WaitTimes } from '../../src/migration/limits.ts'
import { migrateMailbox } from '../../src/migration/engine/migrate.ts'
import type { MigrationOutcome } from '../../src/migration/engine/outcome.ts'
import type { MigrationProgress } from '../../src/migration/engine/progress/progress.ts'
import { accountOn } from './mailbox.ts'

/** Shorter than those of the service. */
export const waitTimes: WaitTimes = {
  ...WAIT_TIMES,
  reconnectMs: { first: 10, most: 100 },
  slowDownMs: { first: 50, most: 200 },
  quietMs: 700,
}

export type Run = MigrationOutcome & { failures: CopyFailure[]; seen: MigrationProgress[] }
type Extra = MigrateOptions & {
  folders?: string[] | 'all'
  journal?: Journal & { failures: CopyFailure[] }
  waits?: WaitTimes
}

/** Runs the engine to its end. */
export async function migrate(
  from: { port: number; user?: string },
  to: { port: number; user?: string },
  { folders = 'all', journal = createMemoryJournal(), waits = waitTimes, ...options }: Extra = {},
): Promise<Run> {
  const seen: MigrationProgress[] = []
  const outcome = await migrateMailbox({
    source: { account: accountOn(from.port, from.user) },
    destination: { account: accountOn(to.port, to.user) },
    folders,
    options,
    journal,
    signal: new AbortController().signal,
    log: createLog(process.env['ENGINE_LOG'] ?? 'silent'),
    waitTimes: waits,
    onProgress: (progress) => seen.push(progress),
  })
  return { ...outcome, failures: journal.failures, seen }
}
