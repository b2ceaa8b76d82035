import type { Kysely } from 'kysely'
import { raiseAlert, raiseResolved } from '../../alerts/raise.ts'
import { eachInWorkspace } from '../../jobs/each-in-workspace.ts'
import { defineSweep, type Job } from '../../jobs/job.ts'
import type { DB } from '../../store/tables.ts'
import { PARALLEL_STATISTICS, STATISTICS_BATCH } from '../limits.ts'
import { fetchPostmaster, type PostmasterDeps } from '../postmaster/fetch-postmaster.ts'
import { claimPostmasterAccesses } from '../postmaster/postmaster.sql.ts'
import { fetchSndsSignIn } from '../snds/fetch-sign-in.ts'
import { fetchSndsLinks, type SndsDeps } from '../snds/fetch-snds.ts'
import { accessEndingAlert, accessRenewedAlert } from '../snds/messages.ts'
import { claimSndsAccesses, claimSndsSignIns, listEndingAccesses } from '../snds/snds.sql.ts'

/** Fetches statistics of providers that are due, every five minutes. */
export function fetchStatisticsJob(deps: PostmasterDeps & SndsDeps): Job {
  return defineSweep({
    name: 'deliverability.fetch-statistics',
    schedule: '*/5 * * * *',
    async run(_data, context) {
      const google = await claimPostmasterAccesses(deps.db, STATISTICS_BATCH)
      const links = await claimSndsAccesses(deps.db, STATISTICS_BATCH)
      const signIns = await claimSndsSignIns(deps.db, STATISTICS_BATCH)
      const due = [
        ...google.map((row) => dueAccess(row, (own) => fetchPostmaster(deps, row, own))),
        ...links.map((row) => dueAccess(row, (own) => fetchSndsLinks(deps, row, own))),
        ...signIns.map((row) => dueAccess(row, (own) => fetchSndsSignIn(deps, row, own))),
      ]
      await eachInWorkspace(due, PARALLEL_STATISTICS, context, ({ work }, own) => work(own))
    },
  })
}

const dueAccess = (
  { workspaceId }: { workspaceId: string },
  work: (signal: AbortSignal) => Promise<unknown>,
) => ({ workspaceId, work })

/** Raises alerts about accesses that end soon, every hour. */
export function endingAccessesJob({ db }: { db: Kysely<DB> }): Job {
  return defineSweep({
    name: 'deliverability.ending-accesses',
    schedule: '41 * * * *',
    async run(_data, { signal }) {
      for (const access of await listEndingAccesses(db)) {
        if (signal.aborted) return
        const { workspaceId, approvedOn } = access
        const since = access.since ?? new Date()
        const ends = [
          { end: 'link', isEnding: access.isLinkEnding, since },
          { end: 'approval', isEnding: access.isApprovalEnding, since: approvedOn ?? since },
          // An access that has ended has an alert of its own.
          ...(access.isEnded
            ? []
            : [{ end: 'signIn', isEnding: access.isSignInEnding, since } as const]),
        ] as const
        for (const { isEnding, ...ending } of ends)
          await (isEnding
            ? raiseAlert(db, accessEndingAlert({ workspaceId, ...ending }))
            : raiseResolved(db, accessRenewedAlert(workspaceId, ending.end)))
      }
    },
  })
}
