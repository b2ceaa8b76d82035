import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import type { Config } from '../config.ts'
import { callerOf, type Door } from '../http/auth.ts'
import { answers, Done, PageQuery, paginationOf, sliceOf, security, Success, Uuid } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import { Fault } from '../errors.ts'
import type { DB } from '../store/tables.ts'
import { changeAccount, createAccount, createFirstAccount, removeAccount } from './accounts.ts'
import { signIn } from './auth-routes.ts'
import type { Auth } from './auth.ts'
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
import { issueToken, revokeToken } from './tokens.ts'

export type AccountRoutesOptions = {
  db: Kysely<DB>
  door: Door
  auth: Auth
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

  app.get(
    '/api/v1/account',
    {
      onRequest: options.door.account,
      schema: { summary: 'Who am I?', tags: ['Accounts'], security, response: answers(Success(Myself)) },
    },
    async (request) => {
      const { accountId: id, ...caller } = callerOf(request)
      return { success: true, data: { id, ...caller } }
    },
  )
}

function tokenRoutes(app: App, { db, door }: AccountRoutesOptions): void {
  const tags = ['Tokens']
  app.get(
    '/api/v1/tokens',
    {
      onRequest: door.account,
      schema: { summary: 'My API tokens, newest first', tags, security, response: answers(Success(Type.Array(Token))) },
    },
    async (request) => ({ success: true, data: await listTokens(db, callerOf(request).accountId) }),
  )
  app.post(
    '/api/v1/tokens',
    {
      onRequest: door.session,
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
      onRequest: door.account,
      schema: { summary: 'Revoke an API token', tags, security, params, response: answers(Done) },
    },
    async (request) => {
      await revokeToken(db, callerOf(request).accountId, request.params.id)
      return { success: true }
    },
  )
}

function administratorRoutes(app: App, { db, door, config }: AccountRoutesOptions): void {
  const common = { tags: ['Accounts'], description: 'For administrators.', security }
  app.get(
    '/api/v1/accounts',
    {
      onRequest: door.admin,
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
      onRequest: door.admin,
      schema: {
        summary: 'Make an account',
        ...common,
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
      onRequest: door.admin,
      schema: {
        summary: 'Change an account’s plan, name or rights',
        ...common,
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
      onRequest: door.admin,
      schema: {
        summary: 'Delete another account with all it owns',
        ...common,
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

function serviceRoutes(app: App, { db, auth, config, secretKey, version }: AccountRoutesOptions): void {
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
      reply.header('set-cookie', await signIn(auth, request, person.email, person.password))
      return reply.code(201).send({ success: true, data })
    },
  )
}
