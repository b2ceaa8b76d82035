import type { Logger } from '../log.ts'
import type { Db } from '../store/database.ts'
import { notify, type Signals } from '../store/signals.ts'
import { ANNOUNCE_EVERY } from './limits.ts'

const CAPTURED = 'webhook.captured'

/** Ids in one signal: some 40 bytes each, of 8,000. */
const AT_ONCE = 150

/** @returns a function that ends it */
export function onCaptured(signals: Signals, captured: (endpointIds: string[]) => void): () => void {
  return signals.on(CAPTURED, (ids) => captured(ids as string[]))
}

/** Tells every instance which endpoints have something new: the first at once, the others together a moment later. */
export function createAnnouncer({ db, log }: { db: Db; log: Logger }) {
  let pending = new Set<string>()
  let timer: NodeJS.Timeout | undefined

  async function tell(): Promise<void> {
    const ids = [...pending]
    pending = new Set()
    if (ids.length === 0) return void (timer = undefined)
    timer = setTimeout(() => void tell(), ANNOUNCE_EVERY)
    try {
      for (let i = 0; i < ids.length; i += AT_ONCE) await notify(db, CAPTURED, ids.slice(i, i + AT_ONCE))
    } catch (error) {
      // Whoever listens looks by itself now and then.
      log.warn({ err: error }, 'captured requests were not announced')
    }
  }

  return {
    captured(rows: { endpointId: string }[]): void {
      for (const { endpointId } of rows) pending.add(endpointId)
      if (timer === undefined) void tell()
    },
    close: () => clearTimeout(timer),
  }
}
