import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import type { Notifications } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { serviceOf } from '../services.ts'
import { createWorkspaceSet } from '../workspace-set.ts'
import { MAX_WAITING } from './limits.ts'
import { RELAYS_CHANGED } from './relays.ts'
import { insertReports, listRelayingWorkspaces, type QueuedReport } from './store.ts'

/** Queues the reports of workspaces that relay them. */
export type RelayQueue = {
  /** Durable when it resolves; at once for other workspaces. */
  add(workspaceId: string, reports: QueuedReport[]): Promise<void>
  close(): void
}

export async function createRelayQueue(deps: {
  db: Kysely<DB>
  notifications: Notifications
  log: Logger
  clock: () => number
}): Promise<RelayQueue> {
  const { db, clock } = deps
  const list = () => listRelayingWorkspaces(db)
  const workspaces = await createWorkspaceSet({ ...deps, channel: RELAYS_CHANGED, list })
  return {
    async add(workspaceId, reports) {
      if (!workspaces.has(workspaceId)) return
      // AbuseIPDB rejects evidence whose source can be forged, and the others gain nothing by it.
      const relayed = reports.filter(({ service }) => !serviceOf(service).spoofable)
      if (relayed.length === 0) return
      const at = new Date(clock())
      await insertReports(db, workspaceId, { reports: relayed, at, maxWaiting: MAX_WAITING })
    },
    close: () => workspaces.close(),
  }
}
