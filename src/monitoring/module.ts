import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { Blocklists } from '../protocols/dnsbl/blocklists.ts'
import { futureTimestamps, type FutureTimestamp } from '../store/clock.ts'
import { futureTimestampsOf } from '../store/due-rows.ts'
import type { DB } from '../store/tables.ts'
import type { HostCheckDeps } from './checks/deps.ts'
import { createRateLimiter } from './checks/rate-limiter.ts'
import { sweepJob } from './monitoring-jobs.ts'
import { CHECK_INTERVALS, HISTORY_DAYS, QUERY_SPACING_MS, type CheckIntervals } from './limits.ts'
import { DUE_HOSTS } from './checks/host-checks.sql.ts'
import { describeMonitoring } from './list/address-monitoring.ts'
import { monitoringRoutes } from './routes.ts'

export type MonitoringOptions = {
  db: Kysely<DB>
  /** For names, certificates and records; blocklists are queried through their own resolver. */
  resolver: Resolver
  blocklists: Blocklists
  config: Pick<Config, 'ALLOW_PRIVATE_TARGETS'>
  log: Logger
  onChecked?: HostCheckDeps['onChecked'] | undefined
  intervals?: CheckIntervals
  /** Milliseconds between the queries to the blocklists for two addresses. */
  querySpacingMs?: number
}

/** Monitors hosts: blocklists, certificates and DNS records. */
export function createMonitoringModule(options: MonitoringOptions) {
  const { db, resolver, blocklists, config, log, onChecked } = options
  const { intervals = CHECK_INTERVALS, querySpacingMs = QUERY_SPACING_MS } = options
  const deps: HostCheckDeps = {
    db,
    resolver,
    blocklists,
    allowPrivate: config.ALLOW_PRIVATE_TARGETS,
    log,
    onChecked,
    intervals,
    waitForTurn: createRateLimiter(querySpacingMs),
  }
  const sweep = sweepJob(deps)
  return {
    jobs: [sweep] as Job[],
    /** For modules that add hosts. */
    sweep,
    futureTimestamps: futureTimestampsFor(intervals),
    retention: [{ table: 'monitored_event', column: 'at', days: HISTORY_DAYS }],
    routes: {
      account: (app, { queue }) => monitoringRoutes(app, { ...deps, queue, sweep }),
    } satisfies Routes<{ queue: Queue }>,
    /** The monitored hosts of a workspace at a network of addresses, and their listings. */
    describeAddress: (workspaceId: string, network: string) =>
      describeMonitoring(deps, workspaceId, network),
    close: async () => {},
  }
}

function futureTimestampsFor(intervals: CheckIntervals): FutureTimestamp[] {
  return [
    ...futureTimestamps('database', [
      ['monitored_host', 'grave_due_at', intervals.importantListsMs / 1000],
      ['monitored_host', 'full_due_at', intervals.allListsMs / 1000],
      ['monitored_host', 'side_due_at', intervals.certificatesAndRecordsMs / 1000],
      ['monitored_host', 'recheck_at', intervals.retryMs / 1000],
    ]),
    ...futureTimestampsOf(DUE_HOSTS, { clock: 'database' }),
  ]
}
