import type { Kysely } from 'kysely'
import type { Config } from '../config.ts'
import type { Routes } from '../http/scopes.ts'
import type { Logger } from '../log.ts'
import { futureTimestamps, type FutureTimestamp } from '../store/clock.ts'
import { futureTimestampsOf } from '../store/due-rows.ts'
import type { DB } from '../store/tables.ts'
import { DAY_SECONDS } from '../time.ts'
import type { Readers } from './content/gather.ts'
import type { DeliveryDeps } from './delivery/deliver-digest.ts'
import { digestJobs } from './digest-jobs.ts'
import { SPREAD_MS } from './limits.ts'
import { digestRoutes } from './routes.ts'
import { DUE_DIGESTS } from './digest-subscriptions.sql.ts'
import { unsubscribeRoutes } from './unsubscribe/routes.ts'

export type DigestOptions = {
  db: Kysely<DB>
  readers: Readers
  secretKey: string
  config: Pick<Config, 'SMTP_URL' | 'MAIL_FROM' | 'BASE_URL' | 'SECRET_KEY_PREVIOUS'>
  log: Logger
}

/** Eight days, because a week with a clock change has an hour more, and the spread. */
const MAX_AHEAD_SECONDS = 8 * DAY_SECONDS + SPREAD_MS / 1000

const FUTURE_TIMESTAMPS: FutureTimestamp[] = [
  ...futureTimestamps('service', [
    ['digest_subscription', 'due_at', MAX_AHEAD_SECONDS],
    ['digest_subscription', 'covered_until', 0],
  ]),
  ...futureTimestampsOf(DUE_DIGESTS, { clock: 'service', aheadSeconds: MAX_AHEAD_SECONDS }),
]

/** The digest of a workspace by email, daily or weekly, for each member who wants it. */
export function createDigestModule({ config, ...options }: DigestOptions) {
  const deps: DeliveryDeps = {
    ...options,
    relay: config.SMTP_URL ? { smtpUrl: config.SMTP_URL, from: config.MAIL_FROM } : null,
    previousKey: config.SECRET_KEY_PREVIOUS,
    baseUrl: config.BASE_URL,
  }
  return {
    jobs: digestJobs(deps),
    futureTimestamps: FUTURE_TIMESTAMPS,
    routes: {
      public: (app) => unsubscribeRoutes(app, deps),
      account: (app) => digestRoutes(app, deps),
    } satisfies Routes<unknown>,
  }
}
