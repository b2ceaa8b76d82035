import type { Db } from '../../store/database.ts'
import { SECOND_MS } from '../../time.ts'
import { readRecords } from '../engine/journal/copy-records.ts'
import { CUTOVER_LIMITS } from './limits.ts'
import { listCopiesAfter, saveArrivals } from './cutover-mailboxes.sql.ts'
import type { CutoverRow } from './cutovers.sql.ts'

type Found = { messages: Set<string>; last: number }

/**
 * Counts the messages that the sources received since the switch, from the records of the copies
 * that the passes made of them. A message that was moved, or whose flags changed, counts once.
 */
export async function countArrivals(db: Db, cutover: CutoverRow): Promise<void> {
  const { switchedAt, firstCopyId } = cutover
  if (switchedAt === null || firstCopyId === null) return
  const found = new Map<string, Found>()
  const since = Math.floor(switchedAt.getTime() / SECOND_MS)
  let after = firstCopyId
  for (;;) {
    const rows = await listCopiesAfter(db, cutover, after, CUTOVER_LIMITS.copyRowsPerRead)
    for (const { id, mailboxId, folder, copies } of rows) {
      after = id
      for (const { uid, date, digest } of readRecords(copies)) {
        if (date < since) continue
        const own = found.get(mailboxId) ?? { messages: new Set(), last: 0 }
        own.messages.add(digest.length > 0 ? digest.toString('base64') : `${folder} ${uid}`)
        own.last = Math.max(own.last, date)
        found.set(mailboxId, own)
      }
    }
    if (rows.length < CUTOVER_LIMITS.copyRowsPerRead) break
  }
  await saveArrivals(
    db,
    cutover.id,
    [...found].map(([mailboxId, { messages, last }]) => ({
      mailboxId,
      messages: messages.size,
      lastAt: new Date(last * SECOND_MS),
    })),
  )
}
