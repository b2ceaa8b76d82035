import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { AuthHooks } from '../http/auth.ts'
import type { App } from '../http/server.ts'
import { defineJob, type Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import type { Resolver } from '../net/dns.ts'
import type { FutureTimestamp } from '../store/clock.ts'
import type { Notifications } from '../store/notifications.ts'
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
  notifications: Notifications
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
const MOMENTS: FutureTimestamp[] = [
  { table: 'alert_message', column: 'due_at', maxAheadSeconds: 0, clock: 'database', where: 'attempts = 0' },
  { table: 'alert_message', column: 'due_at', maxAheadSeconds: LONGEST_PAUSE, clock: 'database' },
  { table: 'alert_message', column: 'created_at', maxAheadSeconds: 0, clock: 'database' },
  { table: 'alert_message', column: 'claimed_until', maxAheadSeconds: LEASE, clock: 'database' },
  { table: 'alert_channel', column: 'last_sent_at', maxAheadSeconds: 0, clock: 'database' },
  { table: 'alert_channel', column: 'code_sent_at', maxAheadSeconds: 0, clock: 'database' },
]

/** Telling people: where, and what they were told. Other rooms tell by `raiseAlert`. */
export function createAlertsModule(options: AlertsOptions) {
  const { db, config, log, notifications, patience = PATIENCE, clock = Date.now } = options
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
    futureTimestamps: MOMENTS,
    encryptedColumns: [{ table: 'alert_channel', id: 'id', column: 'secret', contextOf: secretContext }],
    routes: (app: App, { authHooks }: { authHooks: AuthHooks }) => alertRoutes(app, { ...deps, authHooks }),
    /** Sends what is raised, in any number of instances; gives back how to stop. */
    startWork: () => startSender(deps, notifications),
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
