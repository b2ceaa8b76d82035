import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import type { Config } from '../config.ts'
import { callerOf, requireFreshSession, type AuthHooks } from '../http/auth.ts'
import {
  answers,
  Done,
  PageQuery,
  paginationOf,
  sliceOf,
  security,
  Success,
  Uuid,
} from '../http/schema.ts'
import type { App } from '../http/server.ts'
import { Fault } from '../errors.ts'
import type { DB } from '../store/tables.ts'
import { changeAccount, createAccount, createFirstAccount, removeAccount } from './accounts.ts'
import { signIn } from './auth-routes.ts'
import type { Auth } from './auth.ts'
import type { TrustedClients } from './trusted-clients.ts'
import { reauthenticationRoutes } from './reauthentication.ts'
import type { PasswordThrottle } from './password-throttle.ts'
import { requireSetupToken } from './setup.ts'
import {
  Account,
  AccountChange,
  AccountPage,
  IssuedToken,
  Myself,
  NewAccount,
  NewToken,
  ServiceInfo,
  Setup,
  Token,
} from './shapes.ts'
import { countAccounts, hasAccounts, listAccounts, listTokens } from './store.ts'
import type { SignUp } from './sign-up.ts'
import { issueToken, revokeToken } from './tokens.ts'

export type AccountRoutesOptions = {
  db: Kysely<DB>
  authHooks: AuthHooks
  auth: Auth
  throttle: PasswordThrottle
  trustedClients: TrustedClients
  signUp: SignUp
  config: Pick<Config, 'SIGNUP' | 'DEFAULT_PLAN' | 'SMTP_URL'>
  secretKey: string
  version: string
}

const params = Type.Object({ id: Uuid })

/** Tokens, accounts and the first account: `/api/v1/{tokens,account,accounts,service,setup}`. */
export function accountRoutes(app: App, options: AccountRoutesOptions): void {
  tokenRoutes(app, options)
  administratorRoutes(app, options)
  serviceRoutes(app, options)
  reauthenticationRoutes(app, options)

  app.get(
    '/api/v1/account',
    {
      onRequest: options.authHooks.account,
      schema: {
        summary: 'Get the current account',
        tags: ['Accounts'],
        security,
        response: answers(Success(Myself)),
      },
    },
    async (request) => {
      const { accountId: id, ...caller } = callerOf(request)
      return { success: true, data: { id, ...caller } }
    },
  )
}

function tokenRoutes(app: App, { db, authHooks }: AccountRoutesOptions): void {
  const tags = ['Tokens']
  app.get(
    '/api/v1/tokens',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'List API tokens',
        tags,
        security,
        response: answers(Success(Type.Array(Token))),
      },
    },
    async (request) => ({ success: true, data: await listTokens(db, callerOf(request).accountId) }),
  )
  app.post(
    '/api/v1/tokens',
    {
      onRequest: [authHooks.session, requireFreshSession],
      schema: {
        summary: 'Create an API token',
        description: 'Requires a session with a recent sign-in. An API token cannot create tokens.',
        tags,
        security: [{ session: [] }],
        body: NewToken,
        response: answers(IssuedToken, 201),
      },
    },
    async (request, reply) => {
      const token = await issueToken(db, callerOf(request).accountId, request.body.label)
      return reply.code(201).send({ success: true, ...token })
    },
  )
  app.delete(
    '/api/v1/tokens/:id',
    {
      onRequest: authHooks.account,
      schema: { summary: 'Revoke an API token', tags, security, params, response: answers(Done) },
    },
    async (request) => {
      await revokeToken(db, callerOf(request).accountId, request.params.id)
      return { success: true }
    },
  )
}

function administratorRoutes(app: App, { db, authHooks, config }: AccountRoutesOptions): void {
  const common = { tags: ['Accounts'], description: 'Requires an administrator.', security }
  const acts = {
    tags: ['Accounts'],
    description:
      'Requires a session of an administrator who entered the password within the last ten minutes. API tokens are rejected.',
    security: [{ session: [] }],
  }
  const onRequest = [authHooks.admin, requireFreshSession]
  app.get(
    '/api/v1/accounts',
    {
      onRequest: authHooks.admin,
      schema: {
        summary: 'List accounts',
        ...common,
        querystring: PageQuery,
        response: answers(Success(AccountPage)),
      },
    },
    async ({ query: { page, limit } }) => {
      const total = await countAccounts(db)
      const accounts = await listAccounts(db, sliceOf({ page, limit }))
      return { success: true, data: { accounts, pagination: paginationOf({ page, limit }, total) } }
    },
  )
  app.post(
    '/api/v1/accounts',
    {
      onRequest,
      schema: {
        summary: 'Create an account',
        ...acts,
        body: NewAccount,
        response: answers(Success(Account), 201),
      },
    },
    async ({ body }, reply) => {
      const data = await createAccount(db, { ...body, plan: body.plan ?? config.DEFAULT_PLAN })
      return reply.code(201).send({ success: true, data })
    },
  )
  app.patch(
    '/api/v1/accounts/:id',
    {
      onRequest,
      schema: {
        summary: 'Change an account',
        ...acts,
        params,
        body: AccountChange,
        response: answers(Success(Account)),
      },
    },
    async ({ params: { id }, body: { name, plan, admin } }) => {
      return { success: true, data: await changeAccount(db, id, { name, plan, admin }) }
    },
  )
  app.delete(
    '/api/v1/accounts/:id',
    {
      onRequest,
      schema: {
        summary: 'Delete an account',
        ...acts,
        params,
        response: answers(Done),
      },
    },
    async (request) => {
      const { id } = request.params
      if (id === callerOf(request).accountId)
        throw new Fault(
          'conflict',
          'This endpoint cannot delete your own account. Use POST /api/v1/account/erase.',
        )
      await removeAccount(db, id)
      return { success: true }
    },
  )
}

function serviceRoutes(
  app: App,
  { db, auth, trustedClients, signUp, config, secretKey, version }: AccountRoutesOptions,
): void {
  const tags = ['Service']
  const facts = {
    name: 'Portreeve' as const,
    version,
    signup: config.SIGNUP === 'open',
    mail: config.SMTP_URL !== undefined,
  }
  app.get(
    '/api/v1/service',
    {
      schema: { summary: 'Get service information', tags, response: answers(Success(ServiceInfo)) },
    },
    async () => ({ success: true, data: { ...facts, setupNeeded: !(await hasAccounts(db)) } }),
  )
  app.post(
    '/api/v1/setup',
    {
      config: { limit: 'setup' },
      schema: {
        summary: 'Create the first account',
        operationId: 'setUp',
        description:
          'Creates an administrator and signs in. Requires the token of the setup link that the service prints while no account exists.',
        tags,
        body: Setup,
        response: answers(Success(Account), 201),
      },
    },
    async (request, reply) => {
      const { token, ...person } = request.body
      await requireSetupToken({ db, secretKey }, token)
      const data = await createFirstAccount(db, person)
      const cookies = await signIn(auth, request, person.email, person.password)
      reply.header('set-cookie', [...cookies, await trustedClients.remember(request, data.email)])
      return reply.code(201).send({ success: true, data })
    },
  )
  app.post(
    '/api/v1/sign-up/confirm',
    {
      schema: {
        summary: 'Confirm a sign-up',
        description:
          'Creates the account. Requires the token after the # of the link in the sign-up email.',
        tags,
        body: Type.Object({ token: Type.String({ maxLength: 4000 }) }),
        response: answers(Success(Account), 201),
      },
    },
    async (request, reply) => {
      if (config.SIGNUP !== 'open')
        throw new Fault('forbidden', 'Sign-up is closed on this service.')
      return reply.code(201).send({ success: true, data: await signUp.confirm(request.body.token) })
    },
  )
}
