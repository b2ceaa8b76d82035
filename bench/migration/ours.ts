import type { MigrateOptions } from '../../src/migration/engine/migration-options.ts'
import { createLog } from '../../src/log.ts'
import type { Journal } from '../../src/migration/engine/journal/journal.ts'
import { migrateMailbox } from '../../src/migration/engine/migrate.ts'
import type { MigrationOutcome } from '../../src/migration/engine/outcome.ts'
import type { SignIn } from '../../src/net/imap/connection/imap-sign-in.ts'

export function accountOn(port: number, user: string): SignIn {
  const target = { host: 'localhost', servername: 'localhost', addresses: ['127.0.0.1'] }
  return { target, port, secure: false, user, password: 'secret' }
}

/** Runs a complete migration, which must succeed. */
export async function ours(
  from: SignIn,
  to: SignIn,
  journal: Journal,
  options: MigrateOptions = {},
): Promise<MigrationOutcome> {
  const outcome = await migrateMailbox({
    source: { account: from },
    destination: { account: to },
    folders: 'all',
    options,
    journal,
    signal: new AbortController().signal,
    log: createLog('silent'),
  })
  if (outcome.state !== 'completed') throw new Error(JSON.stringify(outcome))
  return outcome
}
