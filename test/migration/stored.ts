import type { Kysely } from 'kysely'
import { createRate, progressOf } from '../../src/migration/engine/progress/progress.ts'
import { insertMigration } from '../../src/migration/migrations.sql.ts'
import type { DB } from '../../src/store/tables.ts'

/** The progress of a migration of one folder that has not begun. */
export const NO_PROGRESS = progressOf([], {
  foldersTotal: 1,
  rate: createRate(),
  stopped: 0,
  throttledUntil: null,
  warnings: [],
  notes: [],
})

/** Stores a migration of `name@old.test` that is not in the queue. */
export async function storeMigration(
  db: Kysely<DB>,
  workspaceId: string,
  name: string,
  { status = 'completed', done = 1, total = 1 } = {},
): Promise<string> {
  const source = {
    host: 'imap.old.test',
    port: 993,
    secure: true,
    user: `${name}@old.test`,
    tlsVerify: true,
  }
  const row = {
    workspaceId,
    source,
    destination: { ...source, host: 'imap.new.test' },
    destPrefix: '',
    folders: ['INBOX'],
    options: { deduplicate: true, allMailOnce: false, dryRun: false, folderMap: {} },
    progress: { ...NO_PROGRESS, messagesDone: done, messagesTotal: total },
  }
  return db.transaction().execute(async (trx) => {
    const id = await insertMigration(trx, row, () => 'sealed')
    await trx.updateTable('migration').set({ status }).where('id', '=', id).execute()
    return id
  })
}
