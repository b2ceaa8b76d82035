import { messageOf } from '../../errors.ts'
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../time.ts'
import type { ArchiverOptions } from './archiver-options.ts'
import { expire, writeBase } from './bases.ts'
import { listBases } from './chain.ts'

/** After a base backup that failed. */
const RETRY_MS = 5 * MINUTE_MS

/** Makes base backups beside the shipping of WAL, and removes expired ones. */
export function createBaseSchedule({ server, store, config, log }: ArchiverOptions) {
  const intervalMs = config.BACKUP_INTERVAL_HOURS * HOUR_MS
  let newest: { at: Date; bytes: number } | null = null
  let triedAt = -Infinity
  let problem: { since: Date; text: string } | null = null
  let making: Promise<void> | null = null
  const stopping = new AbortController()

  async function make(chain: string): Promise<void> {
    const begun = performance.now()
    const { finishedAt, bytes } = await writeBase(store, chain, server, stopping.signal)
    newest = { at: new Date(finishedAt), bytes }
    const seconds = Math.round((performance.now() - begun) / SECOND_MS)
    log.info({ archive: store.name, bytes, seconds }, 'made a base backup')
    const removed = await expire(store, chain, config.BACKUP_KEPT_DAYS, new Date())
    if (removed.bases + removed.segments > 0)
      log.info({ archive: store.name, ...removed }, 'removed expired backups')
  }

  /** Makes one, and remembers why it failed. */
  async function attempt(chain: string): Promise<void> {
    try {
      await make(chain)
      problem = null
    } catch (err) {
      if (stopping.signal.aborted) return
      const text = `The base backup failed: ${messageOf(err)}`
      problem = { since: problem?.since ?? new Date(), text }
      log.error({ err, archive: store.name }, 'the base backup failed')
    }
  }

  function isDue(): boolean {
    if (making || performance.now() - triedAt < RETRY_MS) return false
    return !newest || Date.now() - newest.at.getTime() >= intervalMs
  }

  return {
    newest: () => newest,
    problem: () => problem,
    /** Continues with the base backups of a chain; null for a new one. */
    async follow(chain: string | null): Promise<void> {
      const last = chain === null ? undefined : (await listBases(store, chain)).at(-1)
      newest = last ? { at: new Date(last.finishedAt), bytes: last.bytes } : null
      triedAt = -Infinity
    },
    /** Starts a base backup if one is due, without waiting for it. */
    startIfDue(chain: string, onEnd: () => void): void {
      if (!isDue()) return
      triedAt = performance.now()
      making = attempt(chain).finally(() => {
        making = null
        onEnd()
      })
    },
    /** Ends a base backup that is being made. The next start repeats it. */
    async stop(): Promise<void> {
      stopping.abort()
      await making
    },
  }
}
