import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import type { Config } from './config.ts'
import type { Reauthenticate } from './http/auth.ts'
import type { EventStreams } from './http/events/event-streams.ts'
import type { ServiceMetrics } from './http/metrics/metrics.ts'
import type { Routes } from './http/scopes.ts'
import type { Job } from './jobs/job.ts'
import type { Queue } from './jobs/queue.ts'
import type { Logger } from './log.ts'
import type { Cidr } from './setting-values.ts'
import type { FutureTimestamp } from './store/clock.ts'
import type { Notifications } from './store/notifications.ts'
import type { Retention } from './store/retention.ts'
import type { DB } from './store/tables.ts'

/** What the service hands to its modules. */
export type AppContext = {
  config: Config
  /** Networks of reverse proxies; their addresses may change. */
  trustedProxies: Cidr[]
  log: Logger
  db: Kysely<DB>
  pool: Pool
  notifications: Notifications
  secretKey: string
  /** Null when METRICS_LISTEN is not set. */
  metrics: ServiceMetrics | null
  /** Other origins of hosted services of alerts; undefined for their own. */
  alertOrigins?: ReadonlyMap<string, string> | undefined
  /** Other origins of providers of public feeds and relays; undefined for their own. */
  providerOrigins?: ReadonlyMap<string, string> | undefined
  /** Another cost of new password hashes; undefined for `PASSWORD_COST`. */
  passwordCost?: number | undefined
  /** Other registration services (RDAP) by suffix. */
  registries?: Readonly<Record<string, string>> | undefined
}

/** What all routes share. */
export type RouteContext = { reauthenticate: Reauthenticate; queue: Queue; events: EventStreams }

/** A part of the service with a life of its own: its jobs, routes and background work. */
export type Module = {
  jobs?: Job[]
  /** Its columns with future timestamps, corrected after a clock change. */
  futureTimestamps?: FutureTimestamp[]
  /** Its rows that are deleted after some time, in this order. */
  retention?: Retention[]
  routes?: Routes<RouteContext>
  /** Starts background work besides jobs. @returns stops it */
  startWork?(): () => Promise<void>
  /** Starts a server besides HTTP (SMTP); null when it is switched off. */
  listen?(): Promise<{ close(): Promise<void> } | null>
  /** Called after its routes and jobs have ended. */
  close?(): void | Promise<void>
}
