import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { Door } from '../http/auth.ts'
import type { App } from '../http/server.ts'
import { defineJob, type Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { Moment } from '../store/clock.ts'
import type { Signals } from '../store/signals.ts'
import type { DB } from '../store/tables.ts'
import { secretContext } from './channels/webhook.ts'
import { ALERTS_KEPT, LEASE, PATIENCE, RETRY_AFTER } from './limits.ts'
import type { DeliverDeps } from './messages/deliver.ts'
import { startSender } from './messages/sender.ts'
import type { Patience } from './messages/store.ts'
import { alertRoutes } from './routes.ts'
import { deleteAlertsBefore } from './store.ts'

export type AlertsOptions = {
  db: Kysely<DB>
  signals: Signals
  secretKey: string
  /** For the hosts of webhooks. */
  resolver: Resolver
  config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'BASE_URL' | 'ALLOW_PRIVATE_TARGETS'>
  log: Logger
  patience?: Patience
  onTry?: DeliverDeps['onTry'] | undefined
  /** Milliseconds since 1970. */
  clock?: () => number
}

const LONGEST_PAUSE = Math.max(...RETRY_AFTER) / 1000

/** What waits for its first try may be tried at once: quiet hours are looked at anew. */
const MOMENTS: Moment[] = [
  { table: 'alert_message', column: 'due_at', ahead: 0, by: 'database', where: 'attempts = 0' },
  { table: 'alert_message', column: 'due_at', ahead: LONGEST_PAUSE, by: 'database' },
  { table: 'alert_message', column: 'created_at', ahead: 0, by: 'database' },
  { table: 'alert_message', column: 'claimed_until', ahead: LEASE, by: 'database' },
  { table: 'alert_channel', column: 'last_sent_at', ahead: 0, by: 'database' },
  { table: 'alert_channel', column: 'code_sent_at', ahead: 0, by: 'database' },
]

/** Telling people: where, and what they were told. Other rooms tell by `raiseAlert`. */
export function openAlerts(options: AlertsOptions) {
  const { db, config, log, signals, patience = PATIENCE, clock = Date.now } = options
  const relay = config.SMTP_URL ? { smtpUrl: config.SMTP_URL, from: config.MAIL_FROM } : null
  const ways = {
    relay,
    baseUrl: config.BASE_URL,
    resolver: options.resolver,
    allowPrivate: config.ALLOW_PRIVATE_TARGETS,
  }
  const deps = { ...ways, db, secretKey: options.secretKey, patience, log, clock, onTry: options.onTry }
  const jobs: Job[] = [cleanUpJob({ db })]
  return {
    jobs,
    moments: MOMENTS,
    sealed: [{ table: 'alert_channel', id: 'id', column: 'secret', contextOf: secretContext }],
    routes: (app: App, { door }: { door: Door }) => alertRoutes(app, { ...deps, door }),
    /** Sends what is raised, in any number of instances; gives back how to stop. */
    work: () => startSender(deps, signals),
    close: async () => {},
  }
}

function cleanUpJob({ db }: { db: Kysely<DB> }): Job {
  return defineJob({
    name: 'alerts.clean-up',
    schedule: '17 3 * * *',
    async run(_data, { log }) {
      const deleted = await deleteAlertsBefore(db, new Date(Date.now() - ALERTS_KEPT))
      if (deleted > 0) log.info({ deleted }, 'old alerts deleted')
    },
  })
}
