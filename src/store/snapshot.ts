import type { Kysely, Transaction } from 'kysely'
import type { DB } from './tables.ts'

/** Reads as of one time: no query sees a change that an earlier one did not see. */
export async function readSnapshot<T>(
  db: Kysely<DB>,
  read: (trx: Transaction<DB>) => Promise<T>,
): Promise<T> {
  return db
    .transaction()
    .setIsolationLevel('repeatable read')
    .setAccessMode('read only')
    .execute(read)
}
