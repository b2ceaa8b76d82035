import { betterAuth } from 'better-auth'
import { APIError, createAuthMiddleware } from 'better-auth/api'
import type { Pool } from 'pg'
import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'
import { hashPassword, verifyPassword } from './password-hash.ts'
import { isPlainText, NAME_LENGTH, PASSWORD_LENGTH } from './shapes.ts'
import type { SignUp } from './sign-up.ts'

/** Our own header for the client's address; always overwritten, so that nobody chooses whose limits they use up. */
export const CLIENT_HEADER = 'x-portreeve-client'

export const COOKIE_PREFIX = 'portreeve'

/**
 * Of one address: the rate of the library's default (3 in 10 seconds), but a household may sign in at once.
 * /get-session has no limit: every page asks it, and there is nothing to guess.
 */
const SIGN_IN_RATE = { window: 30, max: 10 }

export type Auth = ReturnType<typeof createAuth>

export type AuthOptions = {
  pool: Pool
  config: Pick<Config, 'BASE_URL' | 'SIGNUP' | 'DEFAULT_PLAN'>
  /** Signs the cookies. */
  secret: string
  log: Logger
  /** Whether the first account, an administrator's, exists; before that nobody signs up. */
  isSetUp: () => Promise<boolean>
  /** What sign-up does, where it is open. */
  signUp?: SignUp
  /** Called with the account's id after its owner changed it, signed in or out. */
  onChange: (accountId: string) => Promise<void>
}

/** Sign-in with e-mail and password, sessions and their limits: better-auth on our tables. */
export function createAuth({ pool, config, secret, log, isSetUp, signUp, onChange }: AuthOptions) {
  return betterAuth({
    ...tables(config),
    database: pool,
    // With an array the library's own environment variable for it has no say.
    secrets: [{ version: 1, value: secret }],
    baseURL: config.BASE_URL,
    basePath: '/api/auth',
    trustedOrigins: ownOrigins(config.BASE_URL),
    telemetry: { enabled: false },
    emailAndPassword: {
      enabled: true,
      // Ours is below: the library's tells who has an account.
      disableSignUp: true,
      minPasswordLength: PASSWORD_LENGTH.minLength,
      maxPasswordLength: PASSWORD_LENGTH.maxLength,
      password: { hash: hashPassword, verify: verifyPassword },
    },
    hooks: {
      before: createAuthMiddleware(async ({ path, body }) => {
        if (path !== '/sign-up/email' || config.SIGNUP !== 'open' || !signUp) return undefined
        await requireSetUp(isSetUp)
        return answerSignUp(signUp, body as Record<string, unknown>)
      }),
    },
    databaseHooks: {
      user: {
        update: { before: async (account) => keepPlain(account), after: ({ id }) => onChange(id) },
      },
      session: {
        create: { after: ({ userId }) => onChange(userId) },
        delete: { after: ({ userId }) => onChange(userId) },
      },
    },
    logger: {
      level: 'warn',
      log: (level, message, ...details) => log[level]({ details: details.map(String) }, message),
    },
    // What is not an answer of the library's is ours to answer: one place for errors.
    onAPIError: {
      onError: (error) => {
        if (!(error instanceof APIError)) throw error
      },
    },
    advanced: {
      cookiePrefix: COOKIE_PREFIX,
      ipAddress: { ipAddressHeaders: [CLIENT_HEADER] },
      database: { generateId: false, joins: true, validateSchema: false },
      // Said aloud, because the library switches both checks off where NODE_ENV is "test".
      disableOriginCheck: false,
      disableCSRFCheck: false,
    },
  })
}

/** How the library's models are called in our migration, and the limits it keeps in a table for all instances. */
export function tables(config: Pick<Config, 'DEFAULT_PLAN'>) {
  const dates = { createdAt: 'created_at', updatedAt: 'updated_at' }
  return {
    user: {
      modelName: 'account',
      fields: { ...dates, emailVerified: 'email_verified' },
      additionalFields: {
        plan: { type: 'string', input: false, required: true, defaultValue: config.DEFAULT_PLAN },
        admin: { type: 'boolean', input: false, required: true, defaultValue: false },
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
      customRules: { '/sign-in/email': SIGN_IN_RATE, '/sign-up/email': SIGN_IN_RATE, '/get-session': false },
    },
  } as const
}

/** The origins of our own pages: BASE_URL's, and on a loopback name the other ways to write it. */
export function ownOrigins(baseUrl: string): string[] {
  const { protocol, hostname, port, origin } = new URL(baseUrl)
  const loopback = ['localhost', '127.0.0.1', '[::1]']
  if (!loopback.includes(hostname)) return [origin]
  return loopback.map((name) => `${protocol}//${name}${port && `:${port}`}`)
}

async function requireSetUp(isSetUp: () => Promise<boolean>): Promise<void> {
  if (await isSetUp()) return
  const message = 'The first account is made with the set-up link.'
  throw new APIError('FORBIDDEN', { code: 'SETUP_NEEDED', message })
}

/** As the library answers a sign-up that has to be confirmed; of the account there is nothing in it but what was given. */
async function answerSignUp(signUp: SignUp, { email, password, name = '' }: Record<string, unknown>) {
  if (typeof email !== 'string' || typeof password !== 'string' || typeof name !== 'string') {
    throw new APIError('BAD_REQUEST', { code: 'VALIDATION_ERROR', message: 'email, password and name must be text.' })
  }
  await signUp.ask({ email, password, name })
  return { token: null, user: { email: email.toLowerCase(), name } }
}

/** The library takes any name and a picture's address of any size; we show neither pictures nor control characters. */
function keepPlain({ name }: { name?: unknown }) {
  if (name !== undefined && !(typeof name === 'string' && isPlainText(name, NAME_LENGTH)))
    throw new APIError('BAD_REQUEST', { code: 'INVALID_NAME', message: 'This name is too long or not plain text.' })
  return { data: { image: null } }
}
