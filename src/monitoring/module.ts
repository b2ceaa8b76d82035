import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { AuthHooks } from '../http/auth.ts'
import type { App } from '../http/server.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { Blocklists } from '../protocols/dnsbl/blocklists.ts'
import type { FutureTimestamp } from '../store/clock.ts'
import type { DB } from '../store/tables.ts'
import { cleanUpJob, sweepJob } from './jobs.ts'
import { LEASE, RHYTHM, SPACING, type Rhythm } from './limits.ts'
import type { LookDeps } from './looks/look.ts'
import { createPace } from './looks/pace.ts'
import { monitoringRoutes } from './routes.ts'

export type MonitoringOptions = {
  db: Kysely<DB>
  /** For names, certificates and records; blacklists are asked through their own. */
  resolver: Resolver
  blocklists: Blocklists
  config: Pick<Config, 'ALLOW_PRIVATE_TARGETS'>
  log: Logger
  onLook?: LookDeps['onLook'] | undefined
  rhythm?: Rhythm
  /** Milliseconds between the questions to one list about two addresses. */
  spacing?: number
}

/** Watching hosts: blacklists, certificates, DNS records. */
export function createMonitoringModule(options: MonitoringOptions) {
  const { db, resolver, blocklists, config, log, onLook, rhythm = RHYTHM, spacing = SPACING } = options
  const pace = createPace(spacing)
  const deps: LookDeps = {
    db,
    resolver,
    blocklists,
    allowPrivate: config.ALLOW_PRIVATE_TARGETS,
    log,
    onLook,
    rhythm,
    pace,
  }
  const sweep = sweepJob(deps)
  const jobs: Job[] = [sweep, cleanUpJob({ db })]
  return {
    jobs,
    futureTimestamps: momentsOf(rhythm),
    routes: (app: App, { authHooks, queue }: { authHooks: AuthHooks; queue: Queue }) =>
      monitoringRoutes(app, { ...deps, authHooks, queue, sweep }),
    close: async () => {},
  }
}

function momentsOf({ grave, full, side, retry }: Rhythm): FutureTimestamp[] {
  const seconds = {
    grave_due_at: grave / 1000,
    full_due_at: full / 1000,
    side_due_at: side / 1000,
    recheck_at: retry / 1000,
    claimed_until: LEASE,
  }
  return Object.entries(seconds).map(([column, maxAheadSeconds]) => ({
    table: 'monitored_host',
    column,
    maxAheadSeconds,
    clock: 'database',
  }))
}
