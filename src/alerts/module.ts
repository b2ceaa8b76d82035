import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { Routes } from '../http/scopes.ts'
import { defineJob, type Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { FutureTimestamp } from '../store/clock.ts'
import type { Notifications } from '../store/notifications.ts'
import type { DB } from '../store/tables.ts'
import { encryptUrls } from './channels/encrypt-urls.ts'
import { MINUTE_SECONDS } from '../time.ts'
import { ALERT_RETENTION_MS, MESSAGE_LEASE_SECONDS, BATCHING, RETRY_DELAYS_MS } from './limits.ts'
import type { DeliveryDeps } from './delivery/deliver.ts'
import { startSender } from './delivery/sender.ts'
import type { Batching } from './delivery/due/store.ts'
import { alertRoutes } from './routes.ts'
import { startEscalating } from './rules/escalation/escalate.ts'
import { MAX_QUIET_MS, MAX_STEP_MINUTES } from './rules/limits.ts'
import { ruleRoutes } from './rules/routes.ts'
import type { WriteAudit } from './silence/links/act.ts'
import { linkRoutes } from './silence/links/routes.ts'
import { MUTE_MINUTES, SNOOZE_MINUTES } from './silence/limits.ts'
import { deleteAlertsBefore } from './store.ts'

export type AlertsOptions = {
  db: Kysely<DB>
  notifications: Notifications
  secretKey: string
  /** For the hosts of webhooks. */
  resolver: Resolver
  config: Pick<
    Config,
    | 'SMTP_URL'
    | 'MAIL_FROM'
    | 'BASE_URL'
    | 'ALLOW_PRIVATE_TARGETS'
    | 'ALERT_PRIVATE_TARGETS'
    | 'SECRET_KEY_PREVIOUS'
  >
  /** Adds an entry to the audit log, for actions by the links in messages. */
  writeAudit: WriteAudit
  log: Logger
  batching?: Batching
  onAttempt?: DeliveryDeps['onAttempt'] | undefined
  /** Other origins of hosted services, such as `https://hooks.slack.com`. */
  origins?: ReadonlyMap<string, string>
  /** Milliseconds since 1970. */
  clock?: () => number
}

const MAX_RETRY_DELAY_SECONDS = Math.max(...RETRY_DELAYS_MS) / 1000

/**
 * Messages that wait for their first attempt may be attempted at once: quiet hours are checked
 * again.
 */
const FUTURE_TIMESTAMPS: FutureTimestamp[] = [
  {
    table: 'alert_message',
    column: 'due_at',
    maxAheadSeconds: 0,
    clock: 'database',
    where: 'attempts = 0',
  },
  {
    table: 'alert_message',
    column: 'due_at',
    maxAheadSeconds: MAX_RETRY_DELAY_SECONDS,
    clock: 'database',
  },
  { table: 'alert_message', column: 'created_at', maxAheadSeconds: 0, clock: 'database' },
  {
    table: 'alert_message',
    column: 'claimed_until',
    maxAheadSeconds: MESSAGE_LEASE_SECONDS,
    clock: 'database',
  },
  {
    table: 'alert_channel',
    column: 'retry_at',
    maxAheadSeconds: MAX_RETRY_DELAY_SECONDS,
    clock: 'database',
  },
  {
    table: 'alert_incident',
    column: 'snoozed_until',
    maxAheadSeconds: SNOOZE_MINUTES.most * MINUTE_SECONDS,
    clock: 'database',
  },
  {
    table: 'alert_mute',
    column: 'ends_at',
    maxAheadSeconds: MUTE_MINUTES.most * MINUTE_SECONDS,
    clock: 'database',
  },
  { table: 'alert_channel', column: 'tokens_at', maxAheadSeconds: 0, clock: 'database' },
  { table: 'alert_channel', column: 'last_sent_at', maxAheadSeconds: 0, clock: 'database' },
  { table: 'alert_channel', column: 'code_sent_at', maxAheadSeconds: 0, clock: 'database' },
  {
    table: 'alert_incident',
    column: 'escalates_at',
    maxAheadSeconds: MAX_QUIET_MS / 1000 + MAX_STEP_MINUTES * 60,
    clock: 'database',
  },
]

/** Alerts, their channels and their delivery. Other modules raise alerts with `raiseAlert`. */
export function createAlertsModule(options: AlertsOptions) {
  const {
    db,
    config,
    log,
    notifications,
    batching = BATCHING,
    clock = Date.now,
    origins = new Map(),
  } = options
  const relay = config.SMTP_URL ? { smtpUrl: config.SMTP_URL, from: config.MAIL_FROM } : null
  const deps = {
    db,
    secretKey: options.secretKey,
    relay,
    baseUrl: config.BASE_URL,
    resolver: options.resolver,
    allowPrivate: config.ALLOW_PRIVATE_TARGETS,
    alertPrivate: config.ALERT_PRIVATE_TARGETS,
    origins,
    batching,
    log,
    clock,
    onAttempt: options.onAttempt,
  }
  const jobs: Job[] = [cleanUpJob(deps)]
  return {
    jobs,
    futureTimestamps: FUTURE_TIMESTAMPS,
    routes: {
      public: (app) =>
        linkRoutes(app, {
          db,
          secretKey: options.secretKey,
          previousKey: config.SECRET_KEY_PREVIOUS,
          baseUrl: config.BASE_URL,
          writeAudit: options.writeAudit,
        }),
      account: (app) => {
        alertRoutes(app, deps)
        ruleRoutes(app, deps)
      },
    } satisfies Routes<unknown>,
    /** Starts sending and escalating; any number of instances share the work. Returns how to stop it. */
    startWork: () => {
      // Repeated every night: the version before may still store some.
      const encrypted = encryptUrls(deps).catch((err: unknown) =>
        log.warn({ err }, 'URLs of alert channels could not be encrypted'),
      )
      const stops = [startSender(deps, notifications), startEscalating(deps), () => encrypted]
      return async () => void (await Promise.all(stops.map((stop) => stop())))
    },
    close: async () => {},
  }
}

function cleanUpJob({ db, secretKey }: { db: Kysely<DB>; secretKey: string }): Job {
  return defineJob({
    name: 'alerts.clean-up',
    schedule: '17 3 * * *',
    async run(_data, { log }) {
      const deleted = await deleteAlertsBefore(db, new Date(Date.now() - ALERT_RETENTION_MS))
      if (deleted > 0) log.info({ deleted }, 'old alerts deleted')
      await encryptUrls({ db, secretKey })
    },
  })
}
