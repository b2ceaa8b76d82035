import type { Logger } from '../../log.ts'
import type { Db } from '../../store/database.ts'
import { MINUTE_MS } from '../../time.ts'
import { markTokensUsed } from './api-tokens.sql.ts'

/** Minimum time between two writes for one token. */
const MIN_WRITE_INTERVAL_MS = MINUTE_MS

/** How long uses are collected into one statement. */
const BATCH_MS = 1_000

/** Records when tokens were last used, without delaying requests. */
export function createLastUse({ db, log }: { db: Db; log: Logger }) {
  const recorded = new Map<string, number>()
  let pending = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  async function write(): Promise<void> {
    clearTimeout(timer)
    timer = undefined
    const ids = [...pending]
    pending = new Set()
    for (const [id, at] of recorded) if (!isRecent(at)) recorded.delete(id)
    if (ids.length === 0) return
    // A lost write is corrected by the next use, so an error is only logged.
    await markTokensUsed(db, ids, new Date()).catch((err: unknown) =>
      log.warn({ err }, 'last use of tokens not recorded'),
    )
  }

  return {
    record(tokenId: string): void {
      if (isRecent(recorded.get(tokenId))) return
      recorded.set(tokenId, performance.now())
      pending.add(tokenId)
      timer ??= setTimeout(() => void write(), BATCH_MS).unref()
    },
    /** Writes what is pending. */
    close: write,
  }
}

function isRecent(at = -Infinity): boolean {
  return performance.now() - at < MIN_WRITE_INTERVAL_MS
}
