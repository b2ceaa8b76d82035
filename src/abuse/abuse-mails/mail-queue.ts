import type { Kysely } from 'kysely'
import type { Logger } from '../../log.ts'
import type { Notifications } from '../../store/notifications.ts'
import type { DB } from '../../store/tables.ts'
import { serviceOf } from '../services.ts'
import { createWorkspaceSet } from '../workspace-set.ts'
import { MAX_ADDRESSES } from './limits.ts'
import { addReports, listMailingWorkspaces } from './store.ts'

/** The notification that other workspaces mail their reports now. */
export const MAILING_CHANGED = 'abuse.mails'

type Report = { address: string; service: string; port: number | null; count: number }

/** Collects the reports of workspaces that mail them, for the email of the day. */
export type MailQueue = {
  add(workspaceId: string, reports: Report[]): Promise<void>
  close(): void
}

export async function createMailQueue(deps: {
  db: Kysely<DB>
  notifications: Notifications
  log: Logger
  clock: () => number
}): Promise<MailQueue> {
  const { db, clock } = deps
  const list = () => listMailingWorkspaces(db)
  const workspaces = await createWorkspaceSet({ ...deps, channel: MAILING_CHANGED, list })
  return {
    async add(workspaceId, reports) {
      if (!workspaces.has(workspaceId)) return
      // The network of a forged source address is a victim.
      const mailed = reports.filter(({ service }) => !serviceOf(service).spoofable)
      if (mailed.length === 0) return
      const at = new Date(clock())
      await addReports(db, workspaceId, { reports: mailed, at, maxAddresses: MAX_ADDRESSES })
    },
    close: () => workspaces.close(),
  }
}
