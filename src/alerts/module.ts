import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { Routes } from '../http/scopes.ts'
import { defineJob, type Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import { futureTimestamps, type FutureTimestamp } from '../store/clock.ts'
import { futureTimestampsOf } from '../store/due-rows.ts'
import type { Retention } from '../store/retention.ts'
import type { Notifications } from '../store/notifications.ts'
import type { DB } from '../store/tables.ts'
import { encryptUrls } from './channels/encrypt-urls.ts'
import { MINUTE_SECONDS } from '../time.ts'
import { ALERT_DAYS, BATCHING, RETRY_DELAYS_MS } from './limits.ts'
import type { DeliveryDeps } from './delivery/deliver-alerts.ts'
import { startSender } from './delivery/sender.ts'
import { DUE_MESSAGES, type Batching } from './delivery/due-messages.sql.ts'
import { alertRoutes } from './routes.ts'
import { startEscalating } from './rules/escalation/escalate.ts'
import { MAX_QUIET_MS, MAX_STEP_MINUTES } from './rules/limits.ts'
import { ruleRoutes } from './rules/routes.ts'
import type { WriteAudit } from './silence/links/act.ts'
import { linkRoutes } from './silence/links/routes.ts'
import { MUTE_MINUTES, SNOOZE_MINUTES } from './silence/limits.ts'

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

/** Alerts take their messages along. */
const RETENTION: Retention[] = [
  { table: 'alert', column: 'created_at', days: ALERT_DAYS },
  {
    table: 'alert_incident',
    column: 'updated_at',
    days: ALERT_DAYS,
    where: 'not exists (select from alert where incident_id = alert_incident.id)',
  },
  {
    table: 'alert_message',
    column: 'created_at',
    days: ALERT_DAYS,
    where: 'not exists (select from alert_message_content where message_id = alert_message.id)',
  },
]

const FUTURE_TIMESTAMPS: FutureTimestamp[] = [
  ...futureTimestamps('database', [
    // The first attempt may be made at once: quiet hours are checked again.
    ['alert_message', 'due_at', 0, 'attempts = 0'],
    ['alert_message', 'due_at', MAX_RETRY_DELAY_SECONDS],
    ['alert_message', 'created_at', 0],
    ['alert_channel', 'retry_at', MAX_RETRY_DELAY_SECONDS],
    ['alert_channel', 'tokens_at', 0],
    ['alert_channel', 'last_sent_at', 0],
    ['alert_channel', 'code_sent_at', 0],
    ['alert_incident', 'snoozed_until', SNOOZE_MINUTES.most * MINUTE_SECONDS],
    ['alert_incident', 'escalates_at', MAX_QUIET_MS / 1000 + MAX_STEP_MINUTES * 60],
    ['alert_mute', 'ends_at', MUTE_MINUTES.most * MINUTE_SECONDS],
  ]),
  ...futureTimestampsOf(DUE_MESSAGES, { clock: 'database' }),
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
    retention: RETENTION,
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

function cleanUpJob(deps: { db: Kysely<DB>; secretKey: string }): Job {
  return defineJob({
    name: 'alerts.clean-up',
    schedule: '17 3 * * *',
    run: () => encryptUrls(deps),
  })
}
