import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { Door } from '../http/auth.ts'
import type { App } from '../http/server.ts'
import type { Job } from '../jobs/job.ts'
import type { Queue } from '../jobs/queue.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { Blocklists } from '../protocols/dnsbl-lists.ts'
import type { Moment } from '../store/clock.ts'
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
export function openMonitoring(options: MonitoringOptions) {
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
    moments: momentsOf(rhythm),
    routes: (app: App, { door, queue }: { door: Door; queue: Queue }) =>
      monitoringRoutes(app, { ...deps, door, queue, sweep }),
    close: async () => {},
  }
}

function momentsOf({ grave, full, side, retry }: Rhythm): Moment[] {
  const seconds = {
    grave_due_at: grave / 1000,
    full_due_at: full / 1000,
    side_due_at: side / 1000,
    recheck_at: retry / 1000,
    claimed_until: LEASE,
  }
  return Object.entries(seconds).map(([column, ahead]) => ({ table: 'monitored_host', column, ahead, by: 'database' }))
}
