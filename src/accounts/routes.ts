import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import type { Config } from '../config.ts'
import { callerOf, requireFreshSession, type AuthHooks } from '../http/auth.ts'
import { answers, Done, PageQuery, paginationOf, sliceOf, security, Success, Uuid } from '../http/schema.ts'
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
      schema: { summary: 'Who am I?', tags: ['Accounts'], security, response: answers(Success(Myself)) },
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
      schema: { summary: 'My API tokens, newest first', tags, security, response: answers(Success(Type.Array(Token))) },
    },
    async (request) => ({ success: true, data: await listTokens(db, callerOf(request).accountId) }),
  )
  app.post(
    '/api/v1/tokens',
    {
      onRequest: [authHooks.session, requireFreshSession],
      schema: {
        summary: 'Make an API token; a token cannot make tokens',
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
  const common = { tags: ['Accounts'], description: 'For administrators.', security }
  const acts = {
    tags: ['Accounts'],
    description: 'For administrators who typed their password within the last ten minutes; never by API token.',
    security: [{ session: [] }],
  }
  const onRequest = [authHooks.admin, requireFreshSession]
  app.get(
    '/api/v1/accounts',
    {
      onRequest: authHooks.admin,
      schema: {
        summary: 'All accounts, oldest first',
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
        summary: 'Make an account',
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
        summary: 'Change an account’s plan, name or rights',
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
        summary: 'Delete another account with all it owns',
        ...acts,
        params,
        response: answers(Done),
      },
    },
    async (request) => {
      const { id } = request.params
      if (id === callerOf(request).accountId) throw new Fault('conflict', 'Nobody deletes their own account.')
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
    { schema: { summary: 'What this is, and whether it is set up', tags, response: answers(Success(ServiceInfo)) } },
    async () => ({ success: true, data: { ...facts, setupNeeded: !(await hasAccounts(db)) } }),
  )
  app.post(
    '/api/v1/setup',
    {
      config: { limit: 'setup' },
      schema: {
        summary: 'Make the first account, an administrator, and sign in',
        operationId: 'setUp',
        description: 'Takes the token of the set-up link that the service prints while there is no account.',
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
        summary: 'Create the account that somebody signed up for',
        description: 'Takes what stands behind the # of the link that was mailed to them.',
        tags,
        body: Type.Object({ token: Type.String({ maxLength: 4000 }) }),
        response: answers(Success(Account), 201),
      },
    },
    async (request, reply) => {
      if (config.SIGNUP !== 'open') throw new Fault('forbidden', 'Sign-up is closed here.')
      return reply.code(201).send({ success: true, data: await signUp.confirm(request.body.token) })
    },
  )
}
