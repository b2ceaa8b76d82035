import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import type { DB } from '../../store/tables.ts'
import { MAX_SERVERS } from '../limits.ts'
import { saveServers, type SeenServer } from '../fleet.sql.ts'

/** Remembers which servers follow, from which address. */
export type Presence = {
  seen(workspaceId: string, server: SeenServer): void
  close(): Promise<void>
}

const FLUSH_MS = 1_000
/** Servers that wait for the next write; beyond them, the next poll or heartbeat counts. */
const MAX_WAITING = 20_000

/** Writes the servers of a second together: one statement per workspace. */
export function createPresence({ db, log }: { db: Kysely<DB>; log: Logger }): Presence {
  let waiting = new Map<string, Map<string, SeenServer>>()
  let count = 0
  let timer: NodeJS.Timeout | undefined
  let flushing = Promise.resolve()

  async function flush(): Promise<void> {
    timer = undefined
    const [batch, at] = [waiting, new Date()]
    waiting = new Map()
    count = 0
    for (const [workspaceId, servers] of batch) {
      const rows = {
        servers: [...servers.values()],
        at,
        as: 'followed' as const,
        most: MAX_SERVERS,
      }
      await saveServers(db, workspaceId, rows).catch((err: unknown) =>
        log.warn({ err }, 'followers of a fleet list could not be recorded'),
      )
    }
  }

  return {
    seen(workspaceId, server) {
      if (count >= MAX_WAITING) return
      const servers = waiting.get(workspaceId) ?? new Map<string, SeenServer>()
      waiting.set(workspaceId, servers.set(server.address, server))
      count += 1
      timer ??= setTimeout(() => void (flushing = flushing.then(flush)), FLUSH_MS)
    },
    async close() {
      clearTimeout(timer)
      await flushing
      await flush()
    },
  }
}
