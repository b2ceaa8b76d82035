import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import type { Journal } from '../engine/journal/journal.ts'
import { addErrors } from '../store.ts'
import { findFolder, saveFolder, type Run } from './store.ts'

/**
 * Thrown when the migration has ended or another worker has claimed it: nothing more may be sent.
 */
export class LostClaim extends Error {
  constructor() {
    super('another worker has taken over the migration')
  }
}

/** Creates a journal in the database, for the worker that has claimed the migration. */
export function createRowJournal(db: Kysely<DB>, run: Run): Journal {
  return {
    load: (folder) => findFolder(db, run.id, folder),
    async save(folder, state, failures) {
      if (failures.length === 0) return requireClaim(await saveFolder(db, run, folder, state))
      await db.transaction().execute(async (trx) => {
        requireClaim(await saveFolder(trx, run, folder, state))
        await addErrors(trx, run.id, failures)
      })
    },
    report: (failure) => addErrors(db, run.id, [failure]),
  }
}

function requireClaim(isOurs: boolean): void {
  if (!isOurs) throw new LostClaim()
}
