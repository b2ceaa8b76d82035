import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createExportFiles } from '../../src/accounts/own-data/export-files.ts'
import { accountRoutes } from '../../src/accounts/routes.ts'
import {
  addAccount,
  createEmails,
  passwordOf,
  removeEverybody,
  TEST_PASSWORD_COST,
} from '../people.ts'
import { ownOrigins } from '../../src/accounts/sign-in/auth-settings.ts'
import { createAuth } from '../../src/accounts/sign-in/better-auth-loader.ts'
import { createAuditWriter } from '../../src/accounts/audit/writer.ts'
import { notifyAccountChange } from '../../src/accounts/account-changes.ts'
import { createIdentify } from '../../src/accounts/tokens/identify-token.ts'
import { createTrustedClients } from '../../src/accounts/sign-in/trusted-clients.ts'
import { createPasswordThrottle } from '../../src/accounts/sign-in/password-throttle.ts'
import { createAccountMailer } from '../../src/accounts/mail/mailer.ts'
import { createMembershipMails } from '../../src/accounts/mail/membership-mails.ts'
import { createAccountNotices } from '../../src/accounts/mail/notices.ts'
import { createOidcProvider, isOidcSetUp } from '../../src/accounts/oidc/oidc-provider.ts'
import { createPasskeys } from '../../src/accounts/passkeys/passkeys.ts'
import { createEmailChange } from '../../src/accounts/recovery/email-change.ts'
import { createPasswordReset } from '../../src/accounts/recovery/password-reset.ts'
import { createSignUp } from '../../src/accounts/registration/sign-up.ts'
import { deriveAuthKey } from '../../src/accounts/two-factor/auth-encryption.ts'
import { findSetupLink } from '../../src/accounts/registration/setup.ts'
import { MAX_SESSIONS } from '../../src/accounts/module.ts'
import { deleteOldSessions, hasAccounts, isDisabled } from '../../src/accounts/accounts.sql.ts'
import { issueToken } from '../../src/accounts/tokens/api-tokens.ts'
import { readConfig, type Plan } from '../../src/config.ts'
import { createAuthHooks } from '../../src/http/auth.ts'
import { addRoutes } from '../../src/http/scopes.ts'
import { createServer } from '../../src/http/http-server.ts'
import { followNames } from '../../src/net/named-networks.ts'
import { createLog } from '../../src/log.ts'
import { isUnavailable, openDatabase } from '../../src/store/database.ts'
import { openNotifications } from '../../src/store/notifications.ts'
import { listenForTests } from '../scaled/instances.ts'

export type Person = { id: string; email: string; password: string; token: string }
export type AccountsTest = Awaited<ReturnType<typeof startAccounts>>

export const SECRET_KEY = 'the secret key of the tests of accounts'
const secretKey = SECRET_KEY
const passwordCost = TEST_PASSWORD_COST
const isReady = async () => true
export const ORIGIN = 'http://portreeve.test'

/**
 * Starts an instance of the accounts module behind an HTTP server. Several may share a database.
 */
export async function startAccounts(databaseUrl: string, env: Record<string, string> = {}) {
  const settings = { BASE_URL: ORIGIN, ...env }
  const config = readConfig(settings)
  const log = createLog('silent')
  const { db, pool, close } = openDatabase(databaseUrl)
  const notifications = await openNotifications(databaseUrl, log)
  const { BASE_URL: baseUrl, DEFAULT_PLAN: plan } = config
  const relay = config.SMTP_URL ? { smtpUrl: config.SMTP_URL, from: config.MAIL_FROM } : null
  const mailer = createAccountMailer({ db, relay, secretKey, log })
  const notices = createAccountNotices({ mailer, baseUrl })
  const signUp = createSignUp({ db, mailer, baseUrl, secretKey, plan, passwordCost })
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
  const authHooks = createAuthHooks(identify, ownOrigins(config.BASE_URL))
  const recovering = { db, mailer, notices, secretKey, baseUrl }
  const app = await createServer({
    log,
    version: '0',
    trustedProxies: (await followNames(config.TRUSTED_PROXIES)).networks,
    isUnavailable,
    isReady,
  })
  const routes = accountRoutes({
    db,
    log,
    auth,
    identify,
    throttle,
    trustedClients,
    notices,
    membershipMails: createMembershipMails({ mailer, baseUrl }),
    signUp,
    passkeys: createPasskeys({ db, secretKey, baseUrl, origins: ownOrigins(baseUrl) }),
    provider: isOidcSetUp(config) ? createOidcProvider(config) : null,
    passwordReset: createPasswordReset({
      ...recovering,
      isPasswordSignInOn: config.PASSWORD_SIGN_IN === 'on',
      passwordCost,
    }),
    emailChange: createEmailChange({ ...recovering, throttle }),
    config,
    secretKey,
    version: '0.2.0',
    auditWriter: createAuditWriter({ db, log }),
    exports: createExportFiles(join(tmpdir(), 'portreeve-exports')),
    passwordCost,
  })
  addRoutes(app, authHooks, [routes], {})
  const listener = await listenForTests(app, {
    ...settings,
    DATABASE_URL: databaseUrl,
    SECRET_KEY: secretKey,
  })
  const { url } = listener
  let emailOf = createEmails()

  /** Sends a request like a browser on the service’s own page, unless its headers differ. */
  function request(
    path: string,
    { token, cookie, body, headers, method }: Asked = {},
  ): Promise<Response> {
    return fetch(new URL(path, url), {
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: {
        origin: ORIGIN,
        ...(token && { authorization: `Bearer ${token}` }),
        ...(cookie && { cookie }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
    })
  }

  return {
    url,
    db,
    pool,
    auth,
    identify,
    notifications,
    request,
    findSetupLink: () => findSetupLink({ db, secretKey, baseUrl: config.BASE_URL }),
    async addPerson(name: string, rights: { plan?: Plan; admin?: boolean } = {}): Promise<Person> {
      const email = emailOf(name)
      const password = passwordOf(name)
      const { id } = await addAccount(db, { email, password, name, plan: 'free', ...rights })
      const { token } = await issueToken(db, { accountId: id, workspaceId: id }, 'tests')
      return { id, email, password, token }
    },
    /** Removes everybody, so that the next Alice is the first again. */
    async removeEverybody(): Promise<void> {
      await removeEverybody(db)
      emailOf = createEmails()
    },
    /** Signs in beside the limits. @returns the Cookie header */
    async signIn({ email, password }: Person): Promise<string> {
      const { signInEmail } = await auth.api()
      const { headers } = await signInEmail({
        body: { email, password },
        returnHeaders: true,
      })
      return cookieOf(headers)
    },
    async stop(): Promise<void> {
      await listener.stop()
      await identify.close()
      await mailer.close()
      await notifications.close()
      await close()
    },
  }
}

type Asked = {
  token?: string
  cookie?: string
  body?: unknown
  headers?: Record<string, string>
  method?: string
}

/** What a browser would send back. */
export function cookieOf(headers: Headers): string {
  return headers
    .getSetCookie()
    .map((line) => line.split(';', 1)[0])
    .join('; ')
}
