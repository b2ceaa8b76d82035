import { join } from 'node:path'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import { createDoor } from '../http/auth.ts'
import type { App } from '../http/server.ts'
import type { Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import type { Moment } from '../store/clock.ts'
import type { Signals } from '../store/signals.ts'
import type { DB } from '../store/tables.ts'
import { VERSION } from '../version.ts'
import { authRoutes } from './auth-routes.ts'
import { createAuth, ownOrigins } from './auth.ts'
import { announceChange } from './changes.ts'
import { createExportFiles } from './export-file.ts'
import { createIdentify } from './identify.ts'
import { cleanUpJob, forgetAttemptsJob } from './jobs.ts'
import { deriveKey } from './keys.ts'
import { createKnownPlaces } from './known-places.ts'
import { BACKOFF, createPasswordThrottle } from './password-throttle.ts'
import { auditAdministrators, auditRoute } from './audit.ts'
import { ownDataRoutes } from './own-data.ts'
import { accountRoutes } from './routes.ts'
import { createSignUp } from './sign-up.ts'
import { hasAccounts } from './store.ts'

export type AccountsOptions = {
  db: Kysely<DB>
  pool: Pool
  signals: Signals
  secretKey: string
  config: Config
  log: Logger
}

/** Whom a clock that was ahead would keep signed in, or out, for longer; sessions last a week, as better-auth has it. */
const MOMENTS: Moment[] = [
  { table: 'session', column: 'expires_at', ahead: 7 * 86_400, by: 'service' },
  { table: 'session', column: 'authenticated_at', ahead: 0, by: 'service' },
  { table: 'password_attempt', column: 'blocked_until', ahead: BACKOFF.longestSeconds, by: 'database' },
  { table: 'password_attempt', column: 'last_failed_at', ahead: 0, by: 'database' },
  { table: 'outgoing_mail', column: 'sent_at', ahead: 0, by: 'database' },
  { table: 'auth_rate_limit', column: 'last_request', ahead: 0, by: 'service', isNumber: true },
]

/** Accounts, and the door that lets them into every other room. */
export function openAccounts({ db, pool, signals, secretKey, config, log }: AccountsOptions) {
  const relay = config.SMTP_URL ? { smtpUrl: config.SMTP_URL, from: config.MAIL_FROM } : null
  const signUp = createSignUp({ db, relay, baseUrl: config.BASE_URL, secretKey, plan: config.DEFAULT_PLAN, log })
  const throttle = createPasswordThrottle({ db, secretKey })
  const places = createKnownPlaces({ db, secretKey, isSecure: config.BASE_URL.startsWith('https:') })
  const auth = createAuth({
    pool,
    config,
    secret: deriveKey(secretKey, 'sessions'),
    log,
    isSetUp: () => hasAccounts(db),
    signUp,
    onChange: (accountId) => announceChange(db, accountId),
  })
  const identify = createIdentify({ db, auth, signals, log })
  const door = createDoor(identify, ownOrigins(config.BASE_URL))
  return {
    door,
    jobs: [cleanUpJob({ db }), forgetAttemptsJob({ db })] as Job[],
    moments: MOMENTS,
    routes(app: App): void {
      auditAdministrators(app, { db, door, log })
      authRoutes(app, { auth, identify, throttle, places })
      accountRoutes(app, { db, door, auth, throttle, places, signUp, config, secretKey, version: VERSION })
      auditRoute(app, { db, door, log })
      const exports = createExportFiles(join(config.DATA_DIR, 'exports'))
      ownDataRoutes(app, { db, door, throttle, exports })
    },
    async close(): Promise<void> {
      await Promise.all([identify.close(), signUp.close()])
    },
  }
}
