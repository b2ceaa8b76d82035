import { join } from 'node:path'
import type { Kysely } from 'kysely'
import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import { createAuthHooks } from '../http/auth.ts'
import type { Job } from '../jobs/job.ts'
import type { Logger } from '../log.ts'
import { futureTimestamps, type FutureTimestamp } from '../store/clock.ts'
import type { Notifications } from '../store/notifications.ts'
import type { DB } from '../store/tables.ts'
import { VERSION } from '../version.ts'
import { ownOrigins } from './sign-in/auth-settings.ts'
import { createAuth } from './sign-in/better-auth-loader.ts'
import { notifyAccountChange } from './account-changes.ts'
import type { AuditEntry } from './audit/audit-log.sql.ts'
import { createAuditWriter } from './audit/writer.ts'
import { createExportFiles } from './own-data/export-files.ts'
import { createIdentify } from './tokens/identify-token.ts'
import { cleanUpAccountsJob, deleteWorkspacesJob, RETENTION } from './accounts-jobs.ts'
import { deriveAuthKey } from './two-factor/auth-encryption.ts'
import { createTrustedClients } from './sign-in/trusted-clients.ts'
import { BACKOFF, createPasswordThrottle } from './sign-in/password-throttle.ts'
import { accountRoutes } from './routes.ts'
import { createAccountMailer } from './mail/mailer.ts'
import { createMembershipMails } from './mail/membership-mails.ts'
import { createAccountNotices } from './mail/notices.ts'
import { createOidcProvider, isOidcSetUp } from './oidc/oidc-provider.ts'
import { createPasskeys } from './passkeys/passkeys.ts'
import { createEmailChange } from './recovery/email-change.ts'
import { createPasswordReset } from './recovery/password-reset.ts'
import { createSignUp } from './registration/sign-up.ts'
import { TOKEN_LIFETIMES } from './tokens/lifetimes.ts'
import { deleteOldSessions, hasAccounts, isDisabled } from './accounts.sql.ts'
import { DAY_SECONDS } from '../time.ts'

export type AccountsOptions = {
  db: Kysely<DB>
  pool: Pool
  notifications: Notifications
  secretKey: string
  config: Config
  log: Logger
  /** Another cost of new password hashes than `PASSWORD_COST`. */
  passwordCost?: number | undefined
}

/**
 * Timestamps that a clock set too far ahead would make too long; sessions last a week,
 * better-auth's default.
 */
const FUTURE_TIMESTAMPS: FutureTimestamp[] = [
  ...futureTimestamps('service', [
    ['session', 'expires_at', 7 * DAY_SECONDS],
    ['session', 'authenticated_at', 0],
  ]),
  ...futureTimestamps('database', [
    ['api_token', 'expires_at', Math.max(...TOKEN_LIFETIMES) * DAY_SECONDS],
    ['password_attempt', 'blocked_until', BACKOFF.longestSeconds],
    ['password_attempt', 'last_failed_at', 0],
    ['outgoing_mail', 'sent_at', 0],
  ]),
  {
    table: 'auth_rate_limit',
    column: 'last_request',
    maxAheadSeconds: 0,
    clock: 'service',
    isNumber: true,
  },
]

/** Sessions of an account. The one that was not used longest ends when there are more. */
export const MAX_SESSIONS = 100

/** Creates the accounts module, with the authentication hooks for the routes of all modules. */
export function createAccountsModule({
  db,
  pool,
  notifications,
  secretKey,
  config,
  log,
  passwordCost,
}: AccountsOptions) {
  const { BASE_URL: baseUrl } = config
  const relay = config.SMTP_URL ? { smtpUrl: config.SMTP_URL, from: config.MAIL_FROM } : null
  const mailer = createAccountMailer({ db, relay, secretKey, log })
  const notices = createAccountNotices({ mailer, baseUrl })
  const signUp = createSignUp({
    db,
    mailer,
    baseUrl,
    secretKey,
    plan: config.DEFAULT_PLAN,
    passwordCost,
  })
  const throttle = createPasswordThrottle({ db, secretKey })
  const trustedClients = createTrustedClients({ db, secretKey, baseUrl })
  const auth = createAuth({
    pool,
    config,
    secret: deriveAuthKey(secretKey),
    log,
    isSetUp: () => hasAccounts(db),
    isDisabled: (accountId) => isDisabled(db, accountId),
    trimSessions: (accountId) => deleteOldSessions(db, accountId, MAX_SESSIONS),
    signUp,
    onChange: (accountId) => notifyAccountChange(db, accountId),
    passwordCost,
  })
  const identify = createIdentify({
    db,
    auth,
    notifications,
    log,
    requireTwoFactor: config.REQUIRE_2FA,
  })
  const origins = ownOrigins(baseUrl)
  const auditWriter = createAuditWriter({ db, log })
  const recovering = { db, mailer, notices, secretKey, baseUrl }
  return {
    authHooks: createAuthHooks(identify, origins),
    ownerOf: (cookies: string | undefined) => auth.ownerOf(cookies),
    /** Adds entries to the audit log that no request of an account caused. */
    writeAudit: (entry: AuditEntry) => auditWriter.write(entry),
    jobs: [cleanUpAccountsJob({ db }), deleteWorkspacesJob({ db })] as Job[],
    futureTimestamps: FUTURE_TIMESTAMPS,
    retention: RETENTION,
    routes: accountRoutes({
      db,
      log,
      auth,
      identify,
      throttle,
      trustedClients,
      notices,
      membershipMails: createMembershipMails({ mailer, baseUrl }),
      signUp,
      passkeys: createPasskeys({ db, secretKey, baseUrl, origins }),
      provider: isOidcSetUp(config) ? createOidcProvider(config) : null,
      passwordReset: createPasswordReset({
        ...recovering,
        isPasswordSignInOn: config.PASSWORD_SIGN_IN === 'on',
        passwordCost,
      }),
      emailChange: createEmailChange({ ...recovering, throttle }),
      config,
      secretKey,
      version: VERSION,
      auditWriter,
      exports: createExportFiles(join(config.DATA_DIR, 'exports')),
      passwordCost,
    }),
    async close(): Promise<void> {
      await Promise.all([identify.close(), mailer.close(), auditWriter.close()])
    },
  }
}
