import type { Kysely } from 'kysely'
import type { DB } from '../../../store/tables.ts'
import { COLLECT_BACK_MS, COLLECT_OVERLAP_MS, COLLECT_STEP_MS, KEEP_MS } from '../limits.ts'
import { collect, findCollected } from '../../../abuse/peer-evidence/evidence-journal.sql.ts'

/**
 * Writes the evidence of new reports into the journal, in steps of an hour of reports.
 * @returns the number of new entries
 */
export async function collectReports(
  db: Kysely<DB>,
  now: number,
  signal?: AbortSignal,
): Promise<number> {
  const collected = (await findCollected(db))?.getTime() ?? 0
  // A time ahead of now was written before the clock was set back.
  let from = Math.max(Math.min(collected, now) - COLLECT_OVERLAP_MS, now - COLLECT_BACK_MS)
  let count = 0
  while (from < now) {
    if (signal?.aborted) break
    const to = Math.min(from + COLLECT_STEP_MS + COLLECT_OVERLAP_MS, now)
    const period = { from: new Date(from), to: new Date(to), oldest: new Date(now - KEEP_MS) }
    count += await db.transaction().execute((trx) => collect(trx, period))
    from = to === now ? now : to - COLLECT_OVERLAP_MS
  }
  return count
}
