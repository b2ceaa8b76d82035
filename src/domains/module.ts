import type { Kysely } from 'kysely'
import type { EventStreams } from '../http/events/event-streams.ts'
import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import { createDomainLists } from '../protocols/dnsbl/domain-lists.ts'
import { notifyChange } from '../store/changes.ts'
import type { DB } from '../store/tables.ts'
import { createRegistrationLookup } from './registration-lookup.ts'
import { domainRoutes, type DomainRoutesDeps } from './routes.ts'
import type { DomainReport } from './shapes.ts'
import { completeWatchesJob } from './watch/complete-watches.ts'
import { cleanUpDomainEventsJob, sweepDomainsJob } from './watch/jobs.ts'
import { watchRoutes } from './watch/routes.ts'
import { saveVerdict } from './watch/store.ts'

export type DomainsOptions = Omit<
  DomainRoutesDeps,
  'domainLists' | 'registrations' | 'onVerdict'
> & {
  db: Kysely<DB>
  /** The job that checks monitored hosts. */
  hostSweep: Job
  /** Whether this service can send email. */
  sendsMail: boolean
}

/** One picture per domain, and the domains that a workspace watches. */
export function createDomainsModule({ db, hostSweep, sendsMail, ...options }: DomainsOptions) {
  const { resolver, blocklists } = options
  const deps = {
    ...options,
    domainLists: createDomainLists(blocklists),
    registrations: createRegistrationLookup(options),
    onVerdict: (workspaceId: string, report: DomainReport) =>
      recordVerdict(db, workspaceId, report),
  }
  const { selectorsSeen: _selectorsSeen, reportEmailOf: _reportEmailOf, ...checks } = deps
  const completeWatches = completeWatchesJob({
    ...checks,
    db,
    monitoring: { db, sweep: hostSweep, blocklists },
    sendsMail,
  })
  return {
    jobs: [
      completeWatches,
      sweepDomainsJob({ db, resolver }),
      cleanUpDomainEventsJob({ db }),
    ] as Job[],
    routes: {
      account(app, { events, queue }) {
        domainRoutes(app, { ...deps, events })
        const monitoring = { db, queue, sweep: hostSweep, blocklists }
        watchRoutes(app, { ...checks, db, queue, monitoring, sendsMail, completeWatches })
      },
    } satisfies Routes<{ events: EventStreams; queue: Queue }>,
  }
}

async function recordVerdict(
  db: Kysely<DB>,
  workspaceId: string,
  { domain, verdict, stages, checkedAt }: DomainReport,
): Promise<void> {
  const { state, sentence } = verdict
  const row = {
    domain,
    state,
    sentence,
    stages: stages.map(({ name, state: of }) => ({ name, state: of })),
    checkedAt: new Date(checkedAt),
  }
  if (await saveVerdict(db, workspaceId, row)) await notifyChange(db, workspaceId, 'checks')
}
