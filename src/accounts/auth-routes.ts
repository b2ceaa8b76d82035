import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type, type TSchema } from 'typebox'
import { Fault } from '../errors.ts'
import { isProgram } from '../http/auth.ts'
import { Failure } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import { CLIENT_HEADER, type Auth } from './auth.ts'
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
import { Email, Name, Password } from './shapes.ts'

/** Bytes; the longest real body is an e-mail, two passwords and a name. */
const BODY_LIMIT = 64 * 1024

type Endpoint = {
  method: 'GET' | 'POST'
  path: string
  summary: string
  answer: TSchema
  body?: TSchema
  session?: true
}

/** What of better-auth we offer; the rest of it (social sign-in, mails we do not send) stays unreachable. */
const ENDPOINTS: Endpoint[] = [
  {
    method: 'POST',
    path: '/sign-in/email',
    summary: 'Sign in: sets the session cookie',
    answer: SignedIn,
    body: Type.Object({
      email: Email,
      password: Type.String({ maxLength: 128 }),
      rememberMe: Type.Optional(Type.Boolean()),
    }),
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
      currentPassword: Type.String({ maxLength: 128 }),
      newPassword: Password,
      revokeOtherSessions: Type.Optional(Type.Boolean()),
    }),
  },
]

/** better-auth's endpoints under `/api/auth`, with its own answers. */
export function authRoutes(app: App, { auth }: { auth: Auth }): void {
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
        bodyLimit: BODY_LIMIT,
        exposeHeadRoute: false,
        schema,
        handler: async (request, reply) => answer(reply, await auth.handler(fetchRequest(request, path, auth))),
      })
    }
  })
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

function fetchRequest(request: FastifyRequest, path: string, auth: Auth): Request {
  // Never from the Host header or an absolute request target: the library would believe their origin.
  const url = new URL(`/api/auth${path}`, auth.options.baseURL)
  url.search = new URLSearchParams(request.query as Record<string, string>).toString()
  const body = Buffer.isBuffer(request.body) ? new Uint8Array(request.body) : null
  const headers = fetchHeaders(request)
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
