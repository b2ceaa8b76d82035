import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readConfig } from '../../config.ts'
import type { MigrateOptions } from '../../migration/engine/migration-options.ts'
import type { SignIn } from '../../net/imap/connection/imap-sign-in.ts'

/**
 * Folder for the state of migrations: in DATA_DIR, or in the working folder for a user who may not
 * write to the data of the service.
 */
export function stateFolder(): string {
  const { DATA_DIR } = readConfig()
  return join(mayUse(DATA_DIR) ? DATA_DIR : resolve('data'), 'migrations')
}

function mayUse(folder: string): boolean {
  if (!existsSync(folder)) return true
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return true
  } catch {
    return false
  }
}

/**
 * One file for each pair of accounts and each way of mapping between them.
 * @param further other options that decide which messages go where
 */
export function journalPath(
  { source, destination }: { source: SignIn; destination: SignIn },
  { prefix, folderMap, specialUse }: MigrateOptions,
  state = stateFolder(),
  further: readonly unknown[] = [],
): string {
  const ends = [source, destination].map(
    ({ target, port, user }) => `${user}@${target.host}:${port}`,
  )
  const key = createHash('sha256')
    .update(JSON.stringify([ends, prefix, folderMap, specialUse, ...further]))
    .digest('hex')
    .slice(0, 12)
  const name = ends
    .join('--')
    .replace(/[^\w.@-]+/g, '_')
    .slice(0, 120)
  return join(state, `${name}-${key}.jsonl`)
}
