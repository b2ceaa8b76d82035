import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { readConfig } from '../../config.ts'
import type { MigrateOptions } from '../../migration/engine/options.ts'
import type { SignIn } from '../../net/imap/connection/sign-in.ts'

/**
 * One file for each pair of accounts and each way of mapping between them.
 * @param further other options that decide which messages go where
 */
export function journalPath(
  { source, destination }: { source: SignIn; destination: SignIn },
  { prefix, folderMap, specialUse }: MigrateOptions,
  state = join(readConfig().DATA_DIR, 'migrations'),
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
