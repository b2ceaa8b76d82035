import type { Db } from '../store/database.ts'
import { countOpenAppeals } from './appeals/appeals.sql.ts'
import { countAwaiting } from './candidates/candidates.ts'
import { findHold } from './export/list-export.sql.ts'

/** What an administrator of the attack list has to decide. */
export type PendingReviews = {
  /** Whether a blocklist update is on hold that no administrator has approved. */
  isOnHold: boolean
  appeals: number
  candidates: number
}

/** @param now milliseconds since 1970 */
export async function readReviews(db: Db, now: number): Promise<PendingReviews> {
  const hold = await findHold(db)
  return {
    isOnHold: hold !== undefined && !hold.approved,
    appeals: await countOpenAppeals(db),
    candidates: await countAwaiting(db, now),
  }
}
