import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { openAbuse } from './abuse/open.ts'
import { openAccounts } from './accounts/open.ts'
import type { Config } from './config.ts'
import { openChecks } from './diagnostics/deps.ts'
import { diagnosticsRoutes } from './diagnostics/routes.ts'
import type { Door } from './http/auth.ts'
import type { Events } from './http/events.ts'
import type { App, Capture } from './http/server.ts'
import { siteRoutes } from './http/site.ts'
import type { Job } from './jobs/job.ts'
import type { Queue } from './jobs/queue.ts'
import type { Logger } from './log.ts'
import { openMigration } from './migration/open.ts'
import type { Signals } from './store/signals.ts'
import type { DB } from './store/tables.ts'
import { openWebhooks } from './webhooks/open.ts'

/** What every room stands on. */
export type Ground = {
  config: Config
  log: Logger
  db: Kysely<DB>
  pool: Pool
  signals: Signals
  secretKey: string
}

/** What routes of all rooms share. */
export type Hall = { door: Door; queue: Queue; events: Events }

/** What a room puts into the house, as far as it has such a thing. */
export type Room = {
  jobs?: Job[]
  /** Registers what it answers over HTTP. */
  routes?(app: App, hall: Hall): void
  /** Begins what a worker does besides jobs; gives back how to stop it. */
  work?(): () => Promise<void>
  /** Called when nothing is asked of it any more. */
  close?(): void | Promise<void>
}

export type Rooms = { all: Room[]; door: Door; capture: Capture }

/**
 * Opens every room, and hands each what it needs; `undo` closes them in the opposite order.
 * @throws Fault when a room cannot be opened with these settings
 */
export async function openRooms(ground: Ground, undo: AsyncDisposableStack): Promise<Rooms> {
  const { config, log, db, signals, secretKey } = ground
  const all: Room[] = []
  function add<R extends Room>(room: R): R {
    undo.defer(async () => room.close?.())
    all.push(room)
    return room
  }

  const { door } = add(openAccounts(ground))
  const { deps: checks, close } = openChecks(config, log)
  for (const warning of checks.blocklists.warnings) log.warn(warning)
  add({ routes: (app) => diagnosticsRoutes(app, { ...checks, door }), close })

  const { resolver, allowPrivate } = checks
  add(openMigration({ db, signals, secretKey, resolver, allowPrivate, concurrency: config.MIGRATION_CONCURRENCY }))
  add(await openAbuse({ db, signals, log, secretKey, reportsUrl: config.REPORTS_URL }))
  const webhooks = add(openWebhooks(ground))
  add({ routes: (app) => siteRoutes(app) })
  return { all, door, capture: webhooks.capture }
}
