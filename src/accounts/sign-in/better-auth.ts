import { AsyncLocalStorage } from 'node:async_hooks'
import { betterAuth } from 'better-auth'
import { APIError, createAuthMiddleware, isAPIError } from 'better-auth/api'
import { twoFactor } from 'better-auth/plugins/two-factor'
import type { Config } from '../../config.ts'
import { CLIENT_HEADER, isSignUpOpen, ownOrigins, type AuthOptions } from './auth-settings.ts'
import { hashPassword, verifyPassword } from './password-hash.ts'
import { NAME_LENGTH, PASSWORD_LENGTH } from '../shapes.ts'
import type { SignUp } from '../registration/sign-up.ts'
import { keyVersion } from '../two-factor/auth-encryption.ts'
import { sessionPlugin } from './session-plugin.ts'
import { COOKIE_PREFIX, cookiePathOf, namePrefixOf } from '../../http/cookies.ts'
import { isShownName } from '../../http/shown-name.ts'

/**
 * Attempts per client address: the rate of the library's default (3 in 10 seconds), with room for
 * several users of one network.
 */
const SIGN_IN_RATE = { window: 30, max: 10 }

/** The longest name of a browser that is kept with its session. */
const MAX_USER_AGENT_CHARS = 500

/** Milliseconds until a browser certainly has the cookie of a response. */
const NEW_COOKIE_MS = 2_000

export type Library = ReturnType<typeof openLibrary>

/**
 * Configures better-auth on our tables: sign-in with email and password, sessions and their limits.
 */
export function openLibrary({
  pool,
  config,
  secret,
  log,
  isSetUp,
  isDisabled = async () => false,
  trimSessions = async () => {},
  signUp,
  onChange,
  passwordCost,
}: AuthOptions) {
  const failures = new AsyncLocalStorage<{ error?: unknown }>()

  /**
   * The library replaces the session when a second factor is turned on or off. A dashboard that
   * heard of it before it has the new cookie would refresh with the old one, and seem signed out.
   */
  async function announce(accountId: string, path = ''): Promise<void> {
    if (!path.startsWith('/two-factor/')) return onChange(accountId)
    const later = () =>
      void onChange(accountId).catch((err: unknown) =>
        log.warn({ err }, 'a change of an account could not be announced'),
      )
    setTimeout(later, NEW_COOKIE_MS).unref()
  }

  const cookieNames = namePrefixOf(config.BASE_URL)
  const auth = betterAuth({
    ...tables(config),
    database: pool,
    // With an array, the library ignores its own environment variable.
    secrets: [{ version: keyVersion(secret), value: secret }],
    // Its requests are without the path of BASE_URL.
    baseURL: new URL(config.BASE_URL).origin,
    basePath: '/api/auth',
    trustedOrigins: ownOrigins(config.BASE_URL),
    telemetry: { enabled: false },
    appName: 'Portreeve',
    plugins: [twoFactor(TWO_FACTOR), sessionPlugin],
    emailAndPassword: {
      enabled: true,
      // Handled below: the library's sign-up reveals which addresses have accounts.
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH.minLength,
      maxPasswordLength: PASSWORD_LENGTH.maxLength,
      password: {
        hash: (password) => hashPassword(password, passwordCost),
        verify: verifyPassword,
      },
    },
    hooks: {
      before: createAuthMiddleware(async ({ path, body, headers }) => {
        if (path !== '/sign-up/email' || !isSignUpOpen(config) || !signUp) return undefined
        await requireSetUp(isSetUp)
        const ip = headers?.get(CLIENT_HEADER) ?? ''
        return answerSignUp(signUp, body as Record<string, unknown>, ip).catch((error: unknown) => {
          if (error instanceof APIError) throw error
          // Kept for our error handler: the library would print it.
          const failure = failures.getStore()
          if (failure) failure.error = error
          throw new APIError('BAD_REQUEST')
        })
      }),
    },
    databaseHooks: {
      user: {
        update: {
          before: async (account) => keepPlain(account),
          after: ({ id }, context) => announce(id, context?.path),
        },
      },
      session: {
        create: {
          before: async (session, context) => {
            if (await isDisabled(session.userId)) throw disabled()
            const { userAgent } = session
            const shortened = { ...session, userAgent: userAgent?.slice(0, MAX_USER_AGENT_CHARS) }
            return markSecondFactor(shortened, context?.path)
          },
          after: async ({ userId }, context) => {
            await trimSessions(userId)
            await announce(userId, context?.path)
          },
        },
        delete: { after: ({ userId }, context) => announce(userId, context?.path) },
      },
    },
    logger: {
      level: 'warn',
      log: (level, message, ...details) => log[level]({ details: details.map(String) }, message),
    },
    onAPIError: {
      onError: (error) => {
        const failure = failures.getStore()
        // Of the library’s own errors there are several classes.
        if (failure && !isAPIError(error)) failure.error = error
      },
    },
    advanced: {
      // The library knows no name that begins with __Host-.
      useSecureCookies: false,
      cookiePrefix: `${cookieNames}${COOKIE_PREFIX}`,
      defaultCookieAttributes: {
        secure: cookieNames !== '',
        path: cookiePathOf(config.BASE_URL),
      },
      ipAddress: { ipAddressHeaders: [CLIENT_HEADER] },
      database: { generateId: false, joins: true, validateSchema: false },
      // Explicit, because the library turns both checks off where NODE_ENV is "test".
      disableOriginCheck: false,
      disableCSRFCheck: false,
    },
  })
  const { handler } = auth
  return Object.assign(auth, {
    /** Throws what is not an error of the library, for our error handler. The library hides it. */
    async handler(request: Request): Promise<Response> {
      const failure: { error?: unknown } = {}
      const response = await failures.run(failure, () => handler(request))
      if ('error' in failure) throw failure.error
      return response
    },
  })
}

/** The second factor, on our tables. */
export const TWO_FACTOR = {
  twoFactorTable: 'two_factor',
  // People who sign in with OIDC only have no password to confirm.
  allowPasswordless: true,
  schema: {
    user: { fields: { twoFactorEnabled: 'two_factor_enabled' } },
    twoFactor: {
      fields: {
        userId: 'account_id',
        backupCodes: 'backup_codes',
        failedVerificationCount: 'failed_verification_count',
        lockedUntil: 'locked_until',
      },
    },
  },
} as const

function disabled(): APIError {
  return new APIError('FORBIDDEN', {
    code: 'ACCOUNT_DISABLED',
    message: 'This account is disabled. Ask the administrator of the service.',
  })
}

/** A session that a code opened has passed the second factor. */
function markSecondFactor<Session extends object>(session: Session, path: string | undefined) {
  if (!path?.startsWith('/two-factor/verify-')) return { data: session }
  return { data: { ...session, signedInWith: 'totp' } }
}

/**
 * Maps the library's models to our tables. Its rate limits are in a table that all instances share.
 */
export function tables(config: Pick<Config, 'DEFAULT_PLAN'>) {
  const dates = { createdAt: 'created_at', updatedAt: 'updated_at' }
  return {
    user: {
      modelName: 'account',
      fields: { ...dates, emailVerified: 'email_verified' },
      additionalFields: {
        plan: { type: 'string', input: false, required: true, defaultValue: config.DEFAULT_PLAN },
        admin: { type: 'boolean', input: false, required: true, defaultValue: false },
        disabledAt: { type: 'date', fieldName: 'disabled_at', input: false, required: false },
      },
    },
    session: {
      modelName: 'session',
      fields: {
        ...dates,
        userId: 'account_id',
        expiresAt: 'expires_at',
        ipAddress: 'ip_address',
        userAgent: 'user_agent',
      },
      additionalFields: {
        signedInWith: {
          type: 'string',
          fieldName: 'signed_in_with',
          input: false,
          required: true,
          defaultValue: 'password',
        },
        authenticatedAt: {
          type: 'date',
          fieldName: 'authenticated_at',
          input: false,
          required: true,
          defaultValue: () => new Date(),
        },
      },
    },
    account: {
      modelName: 'credential',
      fields: {
        ...dates,
        userId: 'account_id',
        providerId: 'provider',
        accountId: 'provider_account_id',
        accessToken: 'access_token',
        refreshToken: 'refresh_token',
        idToken: 'id_token',
        accessTokenExpiresAt: 'access_token_expires_at',
        refreshTokenExpiresAt: 'refresh_token_expires_at',
      },
    },
    verification: { modelName: 'verification', fields: { ...dates, expiresAt: 'expires_at' } },
    rateLimit: {
      enabled: true,
      storage: 'database',
      modelName: 'auth_rate_limit',
      fields: { lastRequest: 'last_request' },
      customRules: {
        '/sign-in/email': SIGN_IN_RATE,
        '/sign-up/email': SIGN_IN_RATE,
        '/two-factor/*': SIGN_IN_RATE,
      },
    },
  } as const
}

async function requireSetUp(isSetUp: () => Promise<boolean>): Promise<void> {
  if (await isSetUp()) return
  const message = 'Create the first account with the setup link.'
  throw new APIError('FORBIDDEN', { code: 'SETUP_NEEDED', message })
}

/**
 * Responds as the library does to a sign-up that needs confirmation. The response contains only the
 * data that was sent.
 */
async function answerSignUp(
  signUp: SignUp,
  { email, password, name = '' }: Record<string, unknown>,
  ip: string,
) {
  if (typeof email !== 'string' || typeof password !== 'string' || typeof name !== 'string') {
    throw new APIError('BAD_REQUEST', {
      code: 'VALIDATION_ERROR',
      message: 'email, password and name must be text.',
    })
  }
  await signUp.request({ email, password, name }, ip)
  return { token: null, user: { email: email.toLowerCase(), name } }
}

/**
 * Rejects names with invisible characters and removes the picture URL: the library accepts any name
 * and any size of URL.
 */
function keepPlain({ name }: { name?: unknown }) {
  if (name !== undefined && !(typeof name === 'string' && isShownName(name, NAME_LENGTH)))
    throw new APIError('BAD_REQUEST', {
      code: 'INVALID_NAME',
      message: 'The name is too long or contains control or other invisible characters.',
    })
  return { data: { image: null } }
}
