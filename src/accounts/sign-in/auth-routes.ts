import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { Config } from '../../config.ts'
import { Fault } from '../../errors.ts'
import { rejectStaleSession, type Identify } from '../../http/auth.ts'
import { Failure } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { DB } from '../../store/tables.ts'
import { requireGoodPassword } from '../accounts.ts'
import type { AccountEvent, AccountNotices } from '../mail/notices.ts'
import { deleteSessionByToken } from '../accounts.sql.ts'
import { forgetTrustedBrowsers } from '../two-factor/two-factor.sql.ts'
import { claimSecret, CODE_LIFETIME_SECONDS } from '../secrets/secrets.sql.ts'
import { AUTH_ENDPOINTS } from './auth-endpoints.ts'
import { Refused } from './auth-shapes.ts'
import type { Auth } from './better-auth-loader.ts'
import { createBoundedQueue } from './bounded-queue.ts'
import {
  explainOrigin,
  fetchHeaders,
  fetchRequest,
  fieldsOf,
  keepSessionCookie,
  sendResponse,
} from './fetch-request.ts'
import { completeSignIn, originOf } from './open-session.ts'
import { subjects, type PasswordOutcome, type PasswordThrottle } from './password-throttle.ts'
import type { TrustedClients } from './trusted-clients.ts'

/** The longest real body has an email address, two passwords and a name. */
const MAX_BODY_BYTES = 64 * 1024

export type AuthRoutesDeps = {
  db: Kysely<DB>
  auth: Auth
  identify: Identify
  throttle: PasswordThrottle
  trustedClients: TrustedClients
  notices: AccountNotices
  config: Pick<Config, 'PASSWORD_SIGN_IN' | 'OIDC_NAME'>
}

type Handler = (request: FastifyRequest) => Promise<Response>

/** Serves better-auth's endpoints under `/api/auth`, with the library's own response bodies. */
export function authRoutes(app: App, deps: AuthRoutesDeps): void {
  const { auth } = deps
  const guarded = guardedEndpoints(deps)
  void app.register(async (scope) => {
    // The library parses and validates the body itself; the schemas here only describe it.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    scope.setValidatorCompiler(() => () => true)
    for (const { method, path, summary, answer: success, body, session } of AUTH_ENDPOINTS) {
      const described = {
        summary,
        response: { 200: success, '4xx': Refused, '5xx': Failure },
      }
      const schema = {
        ...described,
        ...(session && { security: [{ session: [] }] }),
        ...(body && { body }),
      }
      const ask: Handler =
        guarded[path] ??
        ((request) => {
          const given = body && fieldsOf(request)
          return auth.handler(fetchRequest(request, path, auth, given))
        })
      scope.route({
        method,
        url: `/api/auth${path}`,
        bodyLimit: MAX_BODY_BYTES,
        exposeHeadRoute: false,
        config: { limit: 'session requests' },
        schema,
        handler: async (request, reply) =>
          sendResponse(
            reply,
            await explainOrigin(keepSessionCookie(await ask(request)), auth.baseUrl),
          ),
      })
    }
  })
}

/** The endpoints that do more than the library does. */
function guardedEndpoints(deps: AuthRoutesDeps): Record<string, Handler> {
  // Queued before the first query: a burst of sign-ins must not exhaust the database connections.
  const signIns = createBoundedQueue({ maxConcurrent: 4, maxWaiting: 60 })
  const verify = (path: string, fields: string[]): Handler => {
    return (request) => signIns(() => verifyCode(request, deps, path, fields))
  }
  const confirmed = (path: string, event: AccountEvent | null): Handler => {
    return (request) => changeSecondFactor(request, deps, path, event)
  }
  return {
    '/get-session': (request) => currentSession(request, deps),
    '/sign-in/email': (request) => signIns(() => signInWithPassword(request, deps)),
    '/change-password': (request) => changePassword(request, deps),
    '/two-factor/verify-totp': verify('/two-factor/verify-totp', ['code', 'trustDevice']),
    '/two-factor/verify-backup-code': verify('/two-factor/verify-backup-code', [
      'code',
      'trustDevice',
    ]),
    '/two-factor/enable': confirmed('/two-factor/enable', null),
    '/two-factor/disable': confirmed('/two-factor/disable', 'twoFactorDisabled'),
    '/two-factor/generate-backup-codes': confirmed(
      '/two-factor/generate-backup-codes',
      'backupCodesReplaced',
    ),
  }
}

/**
 * Reads the session of a request, without the routing and the limits of the library, which cost more
 * than the session. The cookie of a session that has ended is left in the browser, as
 * `keepSessionCookie` says.
 */
async function currentSession(
  request: FastifyRequest,
  { auth }: AuthRoutesDeps,
): Promise<Response> {
  const found = await auth.session(request.headers.cookie, { refresh: true })
  if (!found) return Response.json(null)
  const { headers, session, user } = found
  return Response.json({ session, user }, { headers })
}

async function signInWithPassword(
  request: FastifyRequest,
  deps: AuthRoutesDeps,
): Promise<Response> {
  const { auth, throttle, trustedClients, config } = deps
  if (config.PASSWORD_SIGN_IN === 'off')
    throw new Fault(
      'forbidden',
      `Sign-in with a password is off on this service. Use ${config.OIDC_NAME} or a passkey.`,
    )
  const body = fieldsOf(request, ['email', 'password', 'rememberMe'])
  const email = textOf(body['email']).toLowerCase()
  const ask = () => auth.handler(fetchRequest(request, '/sign-in/email', auth, body))
  const response = await throttle.check(
    await trustedClients.subjectOf(request, email),
    ask,
    outcomeOfSignIn,
  )
  if (response.ok) {
    const { twoFactorRedirect } = (await response.clone().json()) as { twoFactorRedirect?: true }
    const cookie = twoFactorRedirect
      ? await trustedClients.remember(request, email)
      : await completeSignIn(deps, request, email)
    response.headers.append('set-cookie', cookie)
  }
  return response
}

function outcomeOfSignIn({ status }: Response): PasswordOutcome {
  if (status === 200) return 'right'
  return status === 401 ? 'wrong' : 'unchecked'
}

/**
 * Checks a code, at sign-in or to confirm a new authenticator app. A code is accepted once (RFC
 * 6238, section 5.2), which the library does not ensure.
 */
async function verifyCode(
  request: FastifyRequest,
  deps: AuthRoutesDeps,
  path: string,
  fields: string[],
): Promise<Response> {
  const { auth, db, identify, notices } = deps
  const body = fieldsOf(request, fields)
  const caller = await identify({ cookie: request.headers.cookie })
  const response = await auth.handler(fetchRequest(request, path, auth, body))
  if (!response.ok) return response
  const { token, user } = (await response.clone().json()) as VerifiedBody
  const code = `${user.id} ${textOf(body['code'])}`
  if (!(await claimSecret(db, 'totp', code, CODE_LIFETIME_SECONDS))) {
    if (!caller) await deleteSessionByToken(db, token)
    throw new Fault('forbidden', 'This code was used before. Wait for the next one.')
  }
  if (caller) notices.send('twoFactorEnabled', user, originOf(request))
  else response.headers.append('set-cookie', await completeSignIn(deps, request, user.email))
  return response
}

type VerifiedBody = { token: string; user: { id: string; email: string } }

/** Changes the second factor: needs a recent sign-in and, where the account has one, the password. */
async function changeSecondFactor(
  request: FastifyRequest,
  deps: AuthRoutesDeps,
  path: string,
  event: AccountEvent | null,
): Promise<Response> {
  const { auth, identify, notices } = deps
  const body = fieldsOf(request, ['password'])
  const forward = () => auth.handler(fetchRequest(request, path, auth, body))
  const caller = await identify({ cookie: request.headers.cookie })
  if (!caller) return forward()
  const stale = rejectStaleSession(caller)
  if (stale) throw stale
  const response = await throttled(deps, caller.accountId, forward)
  const account = { id: caller.accountId, email: caller.email }
  if (response.ok && event) notices.send(event, account, originOf(request))
  return response
}

async function changePassword(request: FastifyRequest, deps: AuthRoutesDeps): Promise<Response> {
  const { auth, db, identify, notices } = deps
  const body = fieldsOf(request, ['currentPassword', 'newPassword', 'revokeOtherSessions'])
  const forward = () => auth.handler(fetchRequest(request, '/change-password', auth, body))
  const caller = await identify({ cookie: request.headers.cookie })
  if (!caller) return forward()
  if (typeof body['newPassword'] === 'string')
    requireGoodPassword(body['newPassword'], 'newPassword')
  const response = await throttled(deps, caller.accountId, forward)
  const account = { id: caller.accountId, email: caller.email }
  if (response.ok) {
    await forgetTrustedBrowsers(db, caller.accountId)
    notices.send('passwordChanged', account, originOf(request))
  }
  return response
}

/** Runs a request of the library that checks the password of an account within its session. */
async function throttled(
  { throttle }: AuthRoutesDeps,
  accountId: string,
  forward: () => Promise<Response>,
): Promise<Response> {
  const ask = async () => {
    const response = await forward()
    const { code } = (await response.clone().json()) as { code?: string }
    return { response, isWrong: code === 'INVALID_PASSWORD' }
  }
  const { response } = await throttle.check(
    subjects.session(accountId),
    ask,
    (asked): PasswordOutcome => {
      if (asked.isWrong) return 'wrong'
      return asked.response.ok ? 'right' : 'unchecked'
    },
  )
  return response
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/**
 * Signs in an account whose password was just set.
 * @returns the cookies to set
 */
export async function createSession(
  auth: Auth,
  request: FastifyRequest,
  email: string,
  password: string,
): Promise<string[]> {
  const options = {
    body: { email, password },
    headers: fetchHeaders(request),
    returnHeaders: true,
  } as const
  const { signInEmail } = await auth.api()
  const { headers } = await signInEmail(options)
  return headers.getSetCookie()
}
