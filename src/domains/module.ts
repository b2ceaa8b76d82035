import type { Kysely } from 'kysely'
import type { EventStreams } from '../http/events/event-streams.ts'
import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import { createDomainLists } from '../protocols/dnsbl/domain-lists.ts'
import { futureTimestamps } from '../store/clock.ts'
import { futureTimestampsOf } from '../store/due-rows.ts'
import type { DB } from '../store/tables.ts'
import { createRegistrationLookup } from './registration-lookup.ts'
import { domainRoutes, forWorkspace, type DomainRoutesDeps } from './routes.ts'
import type { DomainReport } from './shapes.ts'
import { completeWatchesJob } from './watch/complete-watches.ts'
import { DAY_SECONDS } from '../time.ts'
import { checkDomainsJob } from './watch/daily-check.ts'
import { EVENT_DAYS } from './limits.ts'
import { DUE_CHECKS } from './watch/watched-domains.sql.ts'
import { sweepDomainsJob } from './watch/watch-jobs.ts'
import { watchRoutes } from './watch/routes.ts'
import { recordCheck } from './watch/record-domain-check.ts'

export type DomainsOptions = Omit<
  DomainRoutesDeps,
  'domainLists' | 'registrations' | 'onVerdict'
> & {
  db: Kysely<DB>
  /** The job that checks monitored hosts. */
  hostSweep: Job
  /** Registration services by suffix; by default those of the registries. */
  servers?: Readonly<Record<string, string>> | undefined
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
    onVerdict: (workspaceId: string, report: DomainReport) => recordCheck(db, workspaceId, report),
  }
  const {
    selectorsSeen: _selectorsSeen,
    reportEmailOf: _reportEmailOf,
    safePolicyOf: _safePolicyOf,
    ...checks
  } = deps
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
      checkDomainsJob({ db, depsOf: (workspaceId) => forWorkspace(deps, workspaceId) }),
    ] as Job[],
    futureTimestamps: [
      ...futureTimestamps('service', [['watched_domain', 'check_due_at', 2 * DAY_SECONDS]]),
      ...futureTimestampsOf(DUE_CHECKS, { clock: 'database' }),
    ],
    /** Looks up when domains were registered. */
    registrations: deps.registrations,
    retention: [{ table: 'domain_event', column: 'at', days: EVENT_DAYS }],
    routes: {
      account(app, { events, queue }) {
        domainRoutes(app, { ...deps, events })
        const monitoring = { db, queue, sweep: hostSweep, blocklists }
        watchRoutes(app, { ...checks, db, queue, monitoring, sendsMail, completeWatches })
      },
    } satisfies Routes<{ events: EventStreams; queue: Queue }>,
  }
}
