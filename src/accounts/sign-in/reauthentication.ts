import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf, requireFreshSession, requireSession } from '../../http/auth.ts'
import { responses, Done } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { DB } from '../../store/tables.ts'
import { hashPassword, verifyPassword } from './password-hash.ts'
import { subjects, type PasswordThrottle } from './password-throttle.ts'
import { OwnPassword } from '../shapes.ts'
import { hasAuthenticator } from '../two-factor/two-factor.sql.ts'
import { claimSecret, CODE_LIFETIME_SECONDS } from '../secrets/secrets.sql.ts'
import type { Auth } from './better-auth-loader.ts'
import { fetchHeaders } from './fetch-request.ts'
import { findPasswordHash, markAuthenticated } from '../accounts.sql.ts'

export type OwnPasswordDeps = { db: Kysely<DB>; throttle: PasswordThrottle }
export type ReauthenticationDeps = OwnPasswordDeps & { auth: Auth }

/**
 * Confirms the password in an older session, so that requests that need a recent sign-in succeed.
 */
export function reauthenticationRoutes(app: App, deps: ReauthenticationDeps): void {
  const url = '/api/v1/account/reauthenticate'
  const common = { security: [{ session: [] }] }
  app.get(
    url,
    {
      config: { withoutSecondFactor: true },
      onRequest: requireFreshSession,
      schema: {
        summary: 'Check for a recent sign-in',
        ...common,
        description:
          'Returns 403 with the code `reauthenticate` when the last sign-in or confirmation is more than ten minutes old.',
        response: responses(Done),
      },
    },
    async () => ({ success: true as const }),
  )
  app.post(
    url,
    {
      config: { withoutSecondFactor: true },
      onRequest: requireSession,
      schema: {
        summary: 'Confirm the sign-in',
        ...common,
        description:
          'Requests that returned 403 with the code `reauthenticate` succeed for the next ten minutes. ' +
          'Needs the password, or a code of the authenticator app. With a passkey or single sign-on, sign in again instead.',
        body: Type.Object({
          password: Type.Optional(OwnPassword),
          code: Type.Optional(Type.String({ minLength: 6, maxLength: 20 })),
        }),
        response: responses(Done),
      },
    },
    async (request) => {
      const { accountId, sessionId } = callerOf(request)
      const { password, code } = request.body
      if (code !== undefined) await requireOwnCode(deps, request, accountId, code)
      else await requireOwnPassword(deps, accountId, password ?? '')
      if (sessionId !== null) await markAuthenticated(deps.db, sessionId)
      return { success: true as const }
    },
  )
}

/**
 * @throws Fault `forbidden` when the code is wrong or was used, `rate_limited` after too many wrong
 *   ones
 */
async function requireOwnCode(
  { db, auth, throttle }: ReauthenticationDeps,
  request: FastifyRequest,
  accountId: string,
  code: string,
): Promise<void> {
  const { verifyTOTP } = await auth.api()
  const ask = () =>
    verifyTOTP({ body: { code }, headers: fetchHeaders(request) }).then(
      () => true,
      () => false,
    )
  // The library would take the code as the confirmation of an app that is being set up.
  if (!(await hasAuthenticator(db, accountId)))
    throw new Fault('forbidden', 'The account has no authenticator app.')
  const isRight = await throttle.check(subjects.session(accountId), ask, (right) =>
    right ? 'right' : 'wrong',
  )
  const isFresh =
    isRight && (await claimSecret(db, 'totp', `${accountId} ${code}`, CODE_LIFETIME_SECONDS))
  if (isFresh) return
  const message = isRight ? 'was used before; wait for the next one' : 'is not the present code'
  throw new Fault('forbidden', `This ${message}.`, { details: [{ path: 'code', message }] })
}

/**
 * @throws Fault `forbidden` when the password is wrong, `rate_limited` after too many wrong ones
 */
export async function requireOwnPassword(
  { db, throttle }: OwnPasswordDeps,
  accountId: string,
  password: string,
): Promise<void> {
  const subject = subjects.session(accountId)
  const isRight = await throttle.check(
    subject,
    () => isPasswordOf(db, accountId, password),
    (answer) => (answer ? 'right' : 'wrong'),
  )
  if (isRight) return
  const message = 'is not your password'
  throw new Fault('forbidden', `This ${message}.`, { details: [{ path: 'password', message }] })
}

async function isPasswordOf(db: Kysely<DB>, accountId: string, password: string): Promise<boolean> {
  const hash = await findPasswordHash(db, accountId)
  if (hash !== undefined) return verifyPassword({ hash, password })
  await hashPassword(password)
  return false
}
