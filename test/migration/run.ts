import { createLog } from '../../src/log.ts'
import { createMemoryJournal, type Failure, type Journal } from '../../src/migration/journal.ts'
import { PATIENCE } from '../../src/migration/limits.ts'
import { migrateMailbox, type MigrateOptions, type Outcome } from '../../src/migration/migrate.ts'
import type { Progress } from '../../src/migration/progress.ts'
import { accountOn } from './mailbox.ts'

const patience = { ...PATIENCE, reconnect: { first: 10, most: 100 }, slowDown: { first: 50, most: 200 }, settle: 700 }

export type Run = Outcome & { failures: Failure[]; seen: Progress[] }
type Extra = MigrateOptions & { folders?: string[] | 'all'; journal?: Journal & { failures: Failure[] } }

/** Runs the engine to its end. */
export async function migrate(
  from: { port: number; user?: string },
  to: { port: number; user?: string },
  { folders = 'all', journal = createMemoryJournal(), ...options }: Extra = {},
): Promise<Run> {
  const seen: Progress[] = []
  const outcome = await migrateMailbox({
    source: { account: accountOn(from.port, from.user) },
    destination: { account: accountOn(to.port, to.user) },
    folders,
    options,
    journal,
    signal: new AbortController().signal,
    log: createLog(process.env['ENGINE_LOG'] ?? 'silent'),
    patience,
    onProgress: (progress) => seen.push(progress),
  })
  return { ...outcome, failures: journal.failures, seen }
}
