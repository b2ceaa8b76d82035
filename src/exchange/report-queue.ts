import type { Kysely } from 'kysely'
import type { ReportFollower } from '../abuse/intake/submit-reports.ts'
import type { Logger } from '../log.ts'
import { createMirror } from '../store/mirror.ts'
import type { Notifications } from '../store/notifications.ts'
import type { DB } from '../store/tables.ts'
import { serviceOf } from '../abuse/services.ts'

/** A report that a workspace also gives to others. */
export type QueuedReport = {
  address: string
  service: string
  port: number | null
  count: number
}

/** Queues the accepted reports of the workspaces that give them to others. */
export type ReportQueue = {
  /** Resolves at once for other workspaces. */
  follow: ReportFollower
  close(): void
}

export type QueueDeps = {
  db: Kysely<DB>
  notifications: Notifications
  log: Logger
  clock: () => number
}

/**
 * @param channel the notification that other workspaces use the queue now
 * @param list reads the workspaces that use it: they are kept in memory, because most reports are
 *   of others
 */
export async function createReportQueue(
  { db, clock, ...deps }: QueueDeps,
  channel: string,
  list: (db: Kysely<DB>) => Promise<string[]>,
  insert: (db: Kysely<DB>, workspaceId: string, reports: QueuedReport[], at: Date) => Promise<void>,
): Promise<ReportQueue> {
  let workspaces = new Set<string>()
  const { close } = await createMirror(deps, channel, async () => {
    workspaces = new Set(await list(db))
  })
  return {
    async follow({ token: { workspaceId }, reports: accepted }) {
      if (!workspaces.has(workspaceId)) return
      const reports = accepted
        // A source that can be forged is no evidence: its network may be the victim.
        .filter(({ service }) => !serviceOf(service).spoofable)
        .map(({ subject, ...report }) => ({ ...report, address: subject.ip }))
      if (reports.length > 0) await insert(db, workspaceId, reports, new Date(clock()))
    },
    close,
  }
}
