import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import { openAbuse } from './abuse/open.ts'
import { readSystems } from './abuse/systems.ts'
import { openAccounts } from './accounts/open.ts'
import { usageRoutes } from './accounts/usage-routes.ts'
import { openAlerts } from './alerts/open.ts'
import { raiseAlert } from './alerts/raise.ts'
import type { Config } from './config.ts'
import { openDelisting } from './delisting/open.ts'
import { openChecks } from './diagnostics/deps.ts'
import { healthRoutes } from './diagnostics/health.ts'
import { openDiagnostics } from './diagnostics/open.ts'
import { openDmarc } from './dmarc/open.ts'
import type { Door } from './http/auth.ts'
import { changeRoute } from './http/change-route.ts'
import type { Events } from './http/events.ts'
import type { Metrics } from './http/metrics.ts'
import type { App, Capture } from './http/server.ts'
import { securityTxtRoute } from './http/security-txt.ts'
import { siteRoutes } from './http/site.ts'
import type { Job } from './jobs/job.ts'
import type { Queue } from './jobs/queue.ts'
import type { Logger } from './log.ts'
import { openMigration } from './migration/open.ts'
import { openMonitoring } from './monitoring/open.ts'
import { readAsnTable } from './protocols/asn-table.ts'
import type { Moment } from './store/clock.ts'
import type { SealedColumn } from './store/reseal.ts'
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
  /** Null where nobody looks. */
  metrics: Metrics | null
}

/** What routes of all rooms share. */
export type Hall = { door: Door; queue: Queue; events: Events }

/** What a room puts into the house, as far as it has such a thing. */
export type Room = {
  jobs?: Job[]
  /** Where it keeps what is sealed under SECRET_KEY. */
  sealed?: SealedColumn[]
  /** Its columns with times to come, to be put right when a clock was set. */
  moments?: Moment[]
  /** Registers what it answers over HTTP. */
  routes?(app: App, hall: Hall): void
  /** Begins what a worker does besides jobs; gives back how to stop it. */
  work?(): () => Promise<void>
  /** Opens a door besides HTTP, for mail; null where it is switched off. */
  listen?(): Promise<{ close(): Promise<void> } | null>
  /** Called when nothing is asked of it any more. */
  close?(): void | Promise<void>
}

export type Rooms = { all: Room[]; door: Door; capture: Capture }

/**
 * Opens every room, and hands each what it needs; `undo` closes them in the opposite order.
 * @throws Fault when a room cannot be opened with these settings
 */
export async function openRooms(ground: Ground, undo: AsyncDisposableStack): Promise<Rooms> {
  const { config, log, db, pool, signals, secretKey, metrics } = ground
  const all: Room[] = []
  function add<R extends Room>(room: R): R {
    undo.defer(async () => room.close?.())
    all.push(room)
    return room
  }

  const { door } = add(openAccounts(ground))
  const opened = openChecks(config, log, metrics?.asked)
  undo.defer(() => opened.close())
  const { deps: checks } = opened
  for (const warning of checks.blocklists.warnings) log.warn(warning)

  const { resolver, blocklists, allowPrivate } = checks
  add(openMigration({ db, signals, secretKey, resolver, allowPrivate, concurrency: config.MIGRATION_CONCURRENCY }))
  const { ASN_DB_PATH: asnPath = null } = config
  const systems = asnPath === null || asnPath === 'none' ? null : readAsnTable(asnPath)
  const { REPORTS_URL: reportsUrl, BASE_URL: baseUrl } = config
  add(
    await openAbuse({
      db,
      pool,
      signals,
      log,
      secretKey,
      previousKey: config.SECRET_KEY_PREVIOUS,
      reportsUrl,
      baseUrl,
      systems: readSystems(asnPath === 'none' ? 'none' : systems),
      onReport: metrics?.reported,
    }),
  )
  const onReports = metrics?.takenIn
  const dmarc = add(openDmarc({ db, log, secretKey, resolver, config, systems, raiseAlert, onReports }))
  const { selectorsSeen } = dmarc
  const diagnostics = add(openDiagnostics({ ...checks, db, secretKey, selectorsSeen, baseUrl: config.BASE_URL }))
  add({ routes: (app, { queue }) => healthRoutes(app, { db, door, queue, resolver, blocklists }) })
  add(openMonitoring({ db, resolver, blocklists, config, log, onLook: metrics?.looked }))
  add(openDelisting({ db, blocklists, resolver, raiseAlert, config, log }))
  add(openAlerts({ db, signals, secretKey, resolver, config, log, onTry: metrics?.alerted }))
  const webhooks = add(
    openWebhooks({ ...ground, onOutcome: metrics?.captured, onRemoved: metrics?.removed, onSpace: metrics?.space }),
  )
  const readers = { captures: webhooks.usage, reportFiles: dmarc.fileUsage, sharedChecks: diagnostics.sharedUsage }
  add({ routes: (app) => usageRoutes(app, { db, door, readers }) })
  add({ routes: (app) => changeRoute(app, { door, signals }) })
  add({ routes: (app) => securityTxtRoute(app, { contacts: config.SECURITY_CONTACT, baseUrl }) })
  add({ routes: (app) => siteRoutes(app) })
  return { all, door, capture: webhooks.capture }
}
