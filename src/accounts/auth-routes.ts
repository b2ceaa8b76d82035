import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { Fault } from '../errors.ts'
import { isProgram } from '../http/auth.ts'
import { Failure } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import { requireGoodPassword } from './accounts.ts'
import { createBoundedQueue } from './bounded-queue.ts'
import { CLIENT_HEADER, type Auth } from './auth.ts'
import type { Identify } from '../http/auth.ts'
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
import { Email, Name, OwnPassword, Password } from './shapes.ts'

/** Bytes; the longest real body is an e-mail, two passwords and a name. */
const MAX_BODY_BYTES = 64 * 1024

type AuthEndpoint = {
  method: 'GET' | 'POST'
  path: string
  summary: string
  answer: TSchema
  body?: TSchema
  session?: true
}

/** What of better-auth we offer; the rest of it (social sign-in, mails we do not send) stays unreachable. */
const ENDPOINTS: AuthEndpoint[] = [
  {
    method: 'POST',
    path: '/sign-in/email',
    summary: 'Sign in: sets the session cookie',
    answer: SignedIn,
    body: Type.Object({ email: Email, password: OwnPassword, rememberMe: Type.Optional(Type.Boolean()) }),
  },
  {
    method: 'POST',
    path: '/sign-up/email',
    summary: 'Make an account, where sign-up is open',
    answer: SignedUp,
    body: Type.Object({ email: Email, password: Password, name: Name }),
  },
  { method: 'POST', path: '/sign-out', summary: 'Sign out', answer: SignedOut },
  { method: 'GET', path: '/get-session', summary: 'The session of the cookie, or null', answer: CurrentSession },
  { method: 'GET', path: '/list-sessions', summary: 'My sessions', answer: SessionList, session: true },
  {
    method: 'POST',
    path: '/revoke-session',
    summary: 'End one of my sessions',
    answer: AuthDone,
    session: true,
    body: Type.Object({ token: Type.String({ maxLength: 200 }) }),
  },
  {
    method: 'POST',
    path: '/revoke-other-sessions',
    summary: 'End all my sessions but this one',
    answer: AuthDone,
    session: true,
  },
  {
    method: 'POST',
    path: '/update-user',
    summary: 'Change my name',
    answer: AuthDone,
    session: true,
    body: Type.Object({ name: Name }),
  },
  {
    method: 'POST',
    path: '/change-password',
    summary: 'Change my password',
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

/** better-auth's endpoints under `/api/auth`, with its own answers. */
export function authRoutes(app: App, deps: AuthRoutesDeps): void {
  const { auth } = deps
  // Before the first query: a crowd at the door must not take the database's connections from everybody else.
  const signIns = createBoundedQueue({ maxConcurrent: 4, maxWaiting: 60 })
  const guarded: Record<string, Handler> = {
    '/sign-in/email': (request) => signIns(() => askToSignIn(request, deps)),
    '/change-password': (request) => askToChangePassword(request, deps),
  }
  void app.register(async (scope) => {
    // The library reads and checks the body itself; the schemas here only describe it.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
    scope.setValidatorCompiler(() => () => true)
    for (const { method, path, summary, answer: success, body, session } of ENDPOINTS) {
      const described = { summary, tags: ['Sign-in'], response: { 200: success, '4xx': Refused, '5xx': Failure } }
      const schema = { ...described, ...(session && { security: [{ session: [] }] }), ...(body && { body }) }
      scope.route({
        method,
        url: `/api/auth${path}`,
        bodyLimit: MAX_BODY_BYTES,
        exposeHeadRoute: false,
        schema,
        handler: async (request, reply) => {
          const ask = guarded[path]
          return answer(reply, await (ask ? ask(request) : auth.handler(fetchRequest(request, path, auth))))
        },
      })
    }
  })
}

async function askToSignIn(
  request: FastifyRequest,
  { auth, throttle, trustedClients }: AuthRoutesDeps,
): Promise<Response> {
  const body = fieldsOf(request, ['email', 'password', 'rememberMe'])
  const email = textOf(body['email']).toLowerCase()
  const ask = () => auth.handler(fetchRequest(request, '/sign-in/email', auth, body))
  const response = await throttle.check(await trustedClients.subjectOf(request, email), ask, outcomeOfSignIn)
  if (response.ok) response.headers.append('set-cookie', await trustedClients.remember(request, email))
  return response
}

function outcomeOfSignIn({ status }: Response): PasswordOutcome {
  if (status === 200) return 'right'
  return status === 401 ? 'wrong' : 'unchecked'
}

async function askToChangePassword(
  request: FastifyRequest,
  { auth, identify, throttle }: AuthRoutesDeps,
): Promise<Response> {
  const body = fieldsOf(request, ['currentPassword', 'newPassword', 'revokeOtherSessions'])
  const forward = () => auth.handler(fetchRequest(request, '/change-password', auth, body))
  const caller = await identify({ cookie: request.headers.cookie })
  if (!caller) return forward()
  if (typeof body['newPassword'] === 'string') requireGoodPassword(body['newPassword'], 'newPassword')
  const ask = async () => {
    const response = await forward()
    const { code } = (await response.clone().json()) as { code?: string }
    return { response, isWrong: code === 'INVALID_PASSWORD' }
  }
  const { response } = await throttle.check(subjects.session(caller.accountId), ask, (asked): PasswordOutcome => {
    if (asked.isWrong) return 'wrong'
    return asked.response.ok ? 'right' : 'unchecked'
  })
  return response
}

/**
 * The fields of a JSON body that are ours to pass on. The library gets what was read here and nothing else, so that both mean
 * the same person.
 * @throws Fault `unsupported_media_type`, `invalid_request`
 */
function fieldsOf({ headers, body }: FastifyRequest, names: string[]): Record<string, unknown> {
  if (!/^application\/json\s*(?:;|$)/i.test(headers['content-type'] ?? '')) {
    throw new Fault('unsupported_media_type', 'This endpoint takes JSON: send Content-Type: application/json.')
  }
  const given = parseObject(Buffer.isBuffer(body) ? body.toString() : '')
  if (!given) throw new Fault('invalid_request', 'The body is not valid JSON.')
  return Object.fromEntries(names.filter((name) => Object.hasOwn(given, name)).map((name) => [name, given[name]]))
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
 * Signs a person in whose password was just set.
 * @returns the cookies to set
 */
export async function signIn(auth: Auth, request: FastifyRequest, email: string, password: string): Promise<string[]> {
  const options = { body: { email, password }, headers: fetchHeaders(request), returnHeaders: true } as const
  const { headers } = await auth.api.signInEmail(options)
  return headers.getSetCookie()
}

/** Headers as `fetch` knows them, with the client's address as we see it through trusted proxies. */
function fetchHeaders(request: FastifyRequest): Headers {
  const headers = new Headers()
  for (const [name, values] of Object.entries(request.headers)) {
    for (const value of [values ?? []].flat()) headers.append(name, value)
  }
  headers.set(CLIENT_HEADER, request.ip)
  return headers
}

/** @param given in place of the request's own body */
function fetchRequest(request: FastifyRequest, path: string, auth: Auth, given?: object): Request {
  // Never from the Host header or an absolute request target: the library would believe their origin.
  const url = new URL(`/api/auth${path}`, auth.options.baseURL)
  url.search = new URLSearchParams(request.query as Record<string, string>).toString()
  const sent = Buffer.isBuffer(request.body) ? new Uint8Array(request.body) : null
  const body = given ? JSON.stringify(given) : sent
  const headers = fetchHeaders(request)
  headers.delete('content-length')
  // The library would refuse a program that has a cookie.
  if (isProgram(request.headers)) headers.set('origin', url.origin)
  return new Request(url, { method: request.method, headers, body })
}

async function answer(reply: FastifyReply, response: Response): Promise<FastifyReply> {
  if (response.status >= 500) {
    throw new Fault('unavailable', 'Signing in is not possible for the moment.', { retryAfter: 5 })
  }
  reply.code(response.status)
  for (const [name, value] of response.headers) reply.header(name, value)
  const wait = response.headers.get('x-retry-after')
  if (wait) reply.header('retry-after', wait)
  return reply.send(Buffer.from(await response.arrayBuffer()))
}
