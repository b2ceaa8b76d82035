import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { Fault } from '../../errors.ts'
import { isProgram } from '../../http/auth.ts'
import { Failure } from '../../http/schema.ts'
import type { App } from '../../http/server.ts'
import { requireGoodPassword } from '../accounts.ts'
import { createBoundedQueue } from './bounded-queue.ts'
import { CLIENT_HEADER, type Auth } from './auth.ts'
import type { Identify } from '../../http/auth.ts'
import {
  AuthDone,
  CurrentSession,
  PasswordChanged,
  Refused,
  SessionList,
  SignedIn,
  SignedOut,
  SignedUp,
} from './auth-shapes.ts'
import type { TrustedClients } from './trusted-clients.ts'
import { subjects, type PasswordOutcome, type PasswordThrottle } from './password-throttle.ts'
import { Email, Name, OwnPassword, Password } from '../shapes.ts'

/** The longest real body has an email address, two passwords and a name. */
const MAX_BODY_BYTES = 64 * 1024

type AuthEndpoint = {
  method: 'GET' | 'POST'
  path: string
  summary: string
  answer: TSchema
  body?: TSchema
  session?: true
}

/**
 * The endpoints of better-auth that are exposed. The others, such as social sign-in, are
 * unreachable.
 */
const ENDPOINTS: AuthEndpoint[] = [
  {
    method: 'POST',
    path: '/sign-in/email',
    summary: 'Sign in',
    answer: SignedIn,
    body: Type.Object({
      email: Email,
      password: OwnPassword,
      rememberMe: Type.Optional(Type.Boolean()),
    }),
  },
  {
    method: 'POST',
    path: '/sign-up/email',
    summary: 'Sign up',
    answer: SignedUp,
    body: Type.Object({ email: Email, password: Password, name: Name }),
  },
  { method: 'POST', path: '/sign-out', summary: 'Sign out', answer: SignedOut },
  {
    method: 'GET',
    path: '/get-session',
    summary: 'Get the current session',
    answer: CurrentSession,
  },
  {
    method: 'GET',
    path: '/list-sessions',
    summary: 'List sessions',
    answer: SessionList,
    session: true,
  },
  {
    method: 'POST',
    path: '/revoke-session',
    summary: 'End a session',
    answer: AuthDone,
    session: true,
    body: Type.Object({ token: Type.String({ maxLength: 200 }) }),
  },
  {
    method: 'POST',
    path: '/revoke-other-sessions',
    summary: 'End all other sessions',
    answer: AuthDone,
    session: true,
  },
  {
    method: 'POST',
    path: '/update-user',
    summary: 'Change the name of the account',
    answer: AuthDone,
    session: true,
    body: Type.Object({ name: Name }),
  },
  {
    method: 'POST',
    path: '/change-password',
    summary: 'Change the password of the account',
    answer: PasswordChanged,
    session: true,
    body: Type.Object({
      currentPassword: OwnPassword,
      newPassword: Password,
      revokeOtherSessions: Type.Optional(Type.Boolean()),
    }),
  },
]

export type AuthRoutesDeps = {
  auth: Auth
  identify: Identify
  throttle: PasswordThrottle
  trustedClients: TrustedClients
}

type Handler = (request: FastifyRequest) => Promise<Response>

/** Serves better-auth's endpoints under `/api/auth`, with the library's own response bodies. */
export function authRoutes(app: App, deps: AuthRoutesDeps): void {
  const { auth } = deps
  // Queued before the first query: a burst of sign-ins must not exhaust the database connections.
  const signIns = createBoundedQueue({ maxConcurrent: 4, maxWaiting: 60 })
  const guarded: Record<string, Handler> = {
    '/sign-in/email': (request) => signIns(() => signInThrottled(request, deps)),
    '/change-password': (request) => changePasswordThrottled(request, deps),
  }
  void app.register(async (scope) => {
    // The library parses and validates the body itself; the schemas here only describe it.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    scope.setValidatorCompiler(() => () => true)
    for (const { method, path, summary, answer: success, body, session } of ENDPOINTS) {
      const described = {
        summary,
        tags: ['Sign-in'],
        response: { 200: success, '4xx': Refused, '5xx': Failure },
      }
      const schema = {
        ...described,
        ...(session && { security: [{ session: [] }] }),
        ...(body && { body }),
      }
      scope.route({
        method,
        url: `/api/auth${path}`,
        bodyLimit: MAX_BODY_BYTES,
        exposeHeadRoute: false,
        schema,
        handler: async (request, reply) => {
          const ask = guarded[path]
          return answer(
            reply,
            await (ask ? ask(request) : auth.handler(fetchRequest(request, path, auth))),
          )
        },
      })
    }
  })
}

async function signInThrottled(
  request: FastifyRequest,
  { auth, throttle, trustedClients }: AuthRoutesDeps,
): Promise<Response> {
  const body = fieldsOf(request, ['email', 'password', 'rememberMe'])
  const email = textOf(body['email']).toLowerCase()
  const ask = () => auth.handler(fetchRequest(request, '/sign-in/email', auth, body))
  const response = await throttle.check(
    await trustedClients.subjectOf(request, email),
    ask,
    outcomeOfSignIn,
  )
  if (response.ok)
    response.headers.append('set-cookie', await trustedClients.remember(request, email))
  return response
}

function outcomeOfSignIn({ status }: Response): PasswordOutcome {
  if (status === 200) return 'right'
  return status === 401 ? 'wrong' : 'unchecked'
}

async function changePasswordThrottled(
  request: FastifyRequest,
  { auth, identify, throttle }: AuthRoutesDeps,
): Promise<Response> {
  const body = fieldsOf(request, ['currentPassword', 'newPassword', 'revokeOtherSessions'])
  const forward = () => auth.handler(fetchRequest(request, '/change-password', auth, body))
  const caller = await identify({ cookie: request.headers.cookie })
  if (!caller) return forward()
  if (typeof body['newPassword'] === 'string')
    requireGoodPassword(body['newPassword'], 'newPassword')
  const ask = async () => {
    const response = await forward()
    const { code } = (await response.clone().json()) as { code?: string }
    return { response, isWrong: code === 'INVALID_PASSWORD' }
  }
  const { response } = await throttle.check(
    subjects.session(caller.accountId),
    ask,
    (asked): PasswordOutcome => {
      if (asked.isWrong) return 'wrong'
      return asked.response.ok ? 'right' : 'unchecked'
    },
  )
  return response
}

/**
 * Reads the named fields of a JSON body. The library receives exactly these values, so that the
 * throttle and the library always mean the same account.
 * @throws Fault `unsupported_media_type`, `invalid_request`
 */
function fieldsOf({ headers, body }: FastifyRequest, names: string[]): Record<string, unknown> {
  if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    throw new Fault(
      'unsupported_media_type',
      'This endpoint requires JSON. Send Content-Type: application/json.',
    )
  }
  const given = parseObject(Buffer.isBuffer(body) ? body.toString() : '')
  if (!given) throw new Fault('invalid_request', 'The body is not valid JSON.')
  return Object.fromEntries(
    names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]),
  )
}

function parseObject(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
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
  const { headers } = await auth.api.signInEmail(options)
  return headers.getSetCookie()
}

/** The request's headers for `fetch`, with the client address as seen through trusted proxies. */
function fetchHeaders(request: FastifyRequest): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(request.headers)) {
    for (const value of [values ?? []].flat()) headers.append(name, value)
  }
  headers.set(CLIENT_HEADER, request.ip)
  return headers
}

/** @param given replaces the request's own body */
function fetchRequest(request: FastifyRequest, path: string, auth: Auth, given?: object): Request {
  // Never built from the Host header or an absolute request target: the library would trust that
  // origin.
  const url = new URL(`/api/auth${path}`, auth.options.baseURL)
  url.search = new URLSearchParams(request.query as Record<string, string>).toString()
  const sent = Buffer.isBuffer(request.body) ? new Uint8Array(request.body) : null
  const body = given ? JSON.stringify(given) : sent
  const headers = fetchHeaders(request)
  headers.delete('content-length')
  // The library would reject a program that sends a cookie but no origin.
  if (isProgram(request.headers)) headers.set('origin', url.origin)
  return new Request(url, { method: request.method, headers, body })
}

async function answer(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  if (response.status >= 500) {
    throw new Fault(
      'unavailable',
      'Sign-in is temporarily unavailable. Try again in a few seconds.',
      { retryAfter: 5 },
    )
  }
  reply.code(response.status)
  for (const [name, value] of response.headers) reply.header(name, value)
  const wait = response.headers.get('x-retry-after')
  if (wait) reply.header('retry-after', wait)
  return reply.send(Buffer.from(await response.arrayBuffer()))
}
