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
import { cleanUpJob } from './jobs.ts'
import { deriveKey } from './keys.ts'
import { auditAdministrators, auditRoute } from './audit.ts'
import { ownDataRoutes } from './own-data.ts'
import { accountRoutes } from './routes.ts'
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
  { table: 'auth_rate_limit', column: 'last_request', ahead: 0, by: 'service', isNumber: true },
]

/** Accounts, and the door that lets them into every other room. */
export function openAccounts({ db, pool, signals, secretKey, config, log }: AccountsOptions) {
  const auth = createAuth({
    pool,
    config,
    secret: deriveKey(secretKey, 'sessions'),
    log,
    isSetUp: () => hasAccounts(db),
    onChange: (accountId) => announceChange(db, accountId),
  })
  const identify = createIdentify({ db, auth, signals, log })
  const door = createDoor(identify, ownOrigins(config.BASE_URL))
  return {
    door,
    jobs: [cleanUpJob({ db })] as Job[],
    moments: MOMENTS,
    routes(app: App): void {
      auditAdministrators(app, { db, door, log })
      authRoutes(app, { auth })
      accountRoutes(app, { db, door, auth, config, secretKey, version: VERSION })
      auditRoute(app, { db, door, log })
      const exports = createExportFiles(join(config.DATA_DIR, 'exports'))
      ownDataRoutes(app, { db, door, auth, exports })
    },
    close: () => identify.close(),
  }
}
