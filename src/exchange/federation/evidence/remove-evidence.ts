import type { Kysely } from 'kysely'
import type { DB } from '../../../store/tables.ts'
import { deleteUnreported, lockAddresses } from '../../../abuse/attack-list.sql.ts'
import {
  deleteEvidence,
  listReportedAddresses,
} from '../../../abuse/peer-evidence/peer-evidence.sql.ts'
import { updateAddresses, type ScoringDeps } from './update-addresses.ts'

/** Addresses in a transaction. */
const ADDRESSES_PER_GROUP = 500

/**
 * Deletes everything that a peer reported, and assesses its addresses again. When aborted, a later
 * call continues.
 */
export async function removeEvidence(
  deps: ScoringDeps & { db: Kysely<DB> },
  peerId: string,
  now: number,
  signal?: AbortSignal,
): Promise<void> {
  for (;;) {
    const addresses = await listReportedAddresses(deps.db, peerId, ADDRESSES_PER_GROUP)
    if (addresses.length === 0 || signal?.aborted) return
    await deps.db.transaction().execute(async (trx) => {
      await lockAddresses(trx, addresses)
      await deleteEvidence(trx, peerId, addresses)
      await updateAddresses(trx, peerId, addresses, deps, now)
      await deleteUnreported(trx, addresses)
    })
  }
}
