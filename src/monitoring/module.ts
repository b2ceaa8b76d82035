import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { Routes } from '../http/scopes.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { Blocklists } from '../protocols/dnsbl/blocklists.ts'
import type { FutureTimestamp } from '../store/clock.ts'
import type { DB } from '../store/tables.ts'
import type { HostCheckDeps } from './checks/deps.ts'
import { createRateLimiter } from './checks/rate-limiter.ts'
import { cleanUpHostsJob, sweepJob } from './jobs.ts'
import {
  CHECK_INTERVALS,
  HOST_LEASE_SECONDS,
  QUERY_SPACING_MS,
  type CheckIntervals,
} from './limits.ts'
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
  const jobs: Job[] = [sweep, cleanUpHostsJob({ db })]
  return {
    jobs,
    /** For modules that add hosts. */
    sweep,
    futureTimestamps: futureTimestamps(intervals),
    routes: {
      account: (app, { queue }) => monitoringRoutes(app, { ...deps, queue, sweep }),
    } satisfies Routes<{ queue: Queue }>,
    close: async () => {},
  }
}

function futureTimestamps(intervals: CheckIntervals): FutureTimestamp[] {
  const seconds = {
    grave_due_at: intervals.importantListsMs / 1000,
    full_due_at: intervals.allListsMs / 1000,
    side_due_at: intervals.certificatesAndRecordsMs / 1000,
    recheck_at: intervals.retryMs / 1000,
    claimed_until: HOST_LEASE_SECONDS,
  }
  return Object.entries(seconds).map(([column, maxAheadSeconds]) => ({
    table: 'monitored_host',
    column,
    maxAheadSeconds,
    clock: 'database',
  }))
}
