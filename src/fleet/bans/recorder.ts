import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { createKeyedGroupCommit } from '../../abuse/intake/report-commits.ts'
import type { ProtectionDeps } from '../protection.ts'
import { recordReports, type FleetReports } from './record-reports.ts'

/** Reports in one commit, and reports that may wait for one. */
const MAX_REPORTS_PER_COMMIT = 1_000
const MAX_WAITING_REPORTS = 20_000

export type FleetRecorder = {
  /** Applies the reports of a request; resolves when the result is durable. */
  record(reports: FleetReports): Promise<void>
  close(): Promise<void>
}

/** Creates the recorder, which applies concurrent reports of a workspace together. */
export function createFleetRecorder(
  deps: ProtectionDeps & { db: Kysely<DB> },
  clock: () => number,
): FleetRecorder {
  const commits = createKeyedGroupCommit<FleetReports, PromiseSettledResult<void>>({
    async commit(group) {
      const byWorkspace = Map.groupBy(group, ({ workspaceId }) => workspaceId)
      const results = new Map<string, PromiseSettledResult<void>>()
      for (const [workspaceId, requests] of byWorkspace) {
        // The failure of one workspace is not that of the others.
        const work = recordReports(deps, workspaceId, requests, clock())
        const [result] = await Promise.allSettled([work])
        results.set(workspaceId, result)
      }
      return group.map(({ workspaceId }) => results.get(workspaceId) as PromiseSettledResult<void>)
    },
    sizeOf: ({ reports }) => reports.length,
    keysOf: ({ workspaceId }) => [workspaceId],
    most: MAX_REPORTS_PER_COMMIT,
    patience: MAX_WAITING_REPORTS,
  })
  return {
    async record(reports) {
      const result = await commits.submit(reports)
      if (result.status === 'rejected') throw result.reason
    },
    close: () => commits.close(),
  }
}
