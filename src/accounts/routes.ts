import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import type { Config } from '../config.ts'
import { callerOf, type Identify } from '../http/auth.ts'
import { responses, Done, paginationOf, sliceOf, Success, Uuid } from '../http/http-schema.ts'
import type { Routes } from '../http/scopes.ts'
import type { App } from '../http/http-server.ts'
import type { Logger } from '../log.ts'
import { Fault } from '../errors.ts'
import type { DB } from '../store/tables.ts'
import { changeAccount, createAccount, createFirstAccount, removeAccount } from './accounts.ts'
import { auditAdministrators, auditWorkspaces } from './audit/record-change.ts'
import { auditRoute, workspaceAuditRoute } from './audit/routes.ts'
import type { AuditWriter } from './audit/writer.ts'
import { authRoutes, createSession } from './sign-in/auth-routes.ts'
import { demoSessionRoute } from './sign-in/demo-session.ts'
import { isSignUpOpen } from './sign-in/auth-settings.ts'
import type { Auth } from './sign-in/better-auth-loader.ts'
import { methodsRoute } from './sign-in/methods-route.ts'
import type { MembershipMails } from './mail/membership-mails.ts'
import type { AccountNotices } from './mail/notices.ts'
import type { OidcConfig, OidcProvider } from './oidc/oidc-provider.ts'
import { oidcLinkRoutes, oidcSignInRoutes } from './oidc/routes.ts'
import { supportsPasskeys, type Passkeys } from './passkeys/passkeys.ts'
import { passkeyRoutes, passkeySignInRoutes } from './passkeys/routes.ts'
import type { EmailChange } from './recovery/email-change.ts'
import type { PasswordReset } from './recovery/password-reset.ts'
import { emailChangeRoutes, passwordResetRoutes } from './recovery/routes.ts'
import type { ExportFiles } from './own-data/export-files.ts'
import { ownDataRoutes } from './own-data/own-data-routes.ts'
import type { PasswordThrottle } from './sign-in/password-throttle.ts'
import { reauthenticationRoutes } from './sign-in/reauthentication.ts'
import type { TrustedClients } from './sign-in/trusted-clients.ts'
import { requireSetupToken } from './registration/setup.ts'
import {
  Account,
  AccountChange,
  AccountPage,
  AccountQuery,
  Myself,
  NewAccount,
  ServiceInfo,
  Setup,
} from './shapes.ts'
import { countAccounts, hasAccounts, listAccounts } from './accounts.sql.ts'
import type { SignUp } from './registration/sign-up.ts'
import { tokenRoutes } from './tokens/routes.ts'
import { workspaceExportRoute } from './workspaces/export-route.ts'
import {
  invitationPreviewRoute,
  invitationRoutes,
  invitationSignUpRoute,
} from './workspaces/invitations/routes.ts'
import { memberRoutes } from './workspaces/members/routes.ts'
import { workspaceRoutes } from './workspaces/routes.ts'
import { findWorkspaceName } from './workspaces/workspaces.sql.ts'

export type AccountRoutesOptions = {
  db: Kysely<DB>
  log: Logger
  auth: Auth
  identify: Identify
  throttle: PasswordThrottle
  trustedClients: TrustedClients
  notices: AccountNotices
  membershipMails: MembershipMails
  signUp: SignUp
  passkeys: Passkeys
  /** Null where single sign-on is not set up. */
  provider: OidcProvider | null
  passwordReset: PasswordReset
  emailChange: EmailChange
  config: OidcConfig &
    Pick<Config, 'DEMO' | 'SIGNUP' | 'DEFAULT_PLAN' | 'SMTP_URL' | 'PASSWORD_SIGN_IN' | 'BASE_URL'>
  secretKey: string
  version: string
  exports: ExportFiles
  auditWriter: AuditWriter
  passwordCost?: number | undefined
}

const params = Type.Object({ id: Uuid })

/** Sign-in, tokens, accounts and their data: `/api/auth`, `/api/v1/{tokens,account,accounts,…}`. */
export function accountRoutes(options: AccountRoutesOptions): Routes<unknown> {
  return {
    public(app) {
      authRoutes(app, options)
      passkeySignInRoutes(app, options)
      oidcSignInRoutes(app, options)
      passwordResetRoutes(app, options)
      invitationPreviewRoute(app, options)
      invitationSignUpRoute(app, options)
      serviceRoutes(app, options)
      if (options.config.DEMO) demoSessionRoute(app, options)
    },
    account(app) {
      // First, so that it records the changes through the routes of every module.
      auditWorkspaces(app, options.auditWriter)
      currentAccountRoute(app, options)
      tokenRoutes(app, options)
      reauthenticationRoutes(app, options)
      methodsRoute(app, options)
      passkeyRoutes(app, options)
      oidcLinkRoutes(app, options)
      emailChangeRoutes(app, options)
      ownDataRoutes(app, options)
      workspaceAuditRoute(app, options)
      workspaceRoutes(app, options)
      workspaceExportRoute(app, options)
      memberRoutes(app, options)
      invitationRoutes(app, { ...options, baseUrl: options.config.BASE_URL })
    },
    administrator(app) {
      // First, so that it records the changes through the routes of every module.
      auditAdministrators(app, options)
      accountsRoutes(app, options)
      auditRoute(app, options)
    },
  }
}

function currentAccountRoute(app: App, { db }: AccountRoutesOptions): void {
  app.get(
    '/api/v1/account',
    {
      config: { withoutSecondFactor: true },
      schema: {
        summary: 'Get the current account',
        response: responses(Success(Myself)),
      },
    },
    async (request) => {
      const { accountId: id, workspaceId, lacksSecondFactor, ...caller } = callerOf(request)
      const { email, name, plan, admin, role, via } = caller
      const workspace = { id: workspaceId, name: (await findWorkspaceName(db, workspaceId)) ?? '' }
      const needed = lacksSecondFactor ? { secondFactorNeeded: true } : {}
      const data = { id, email, name, plan, admin, workspace, role, via, ...needed }
      return { success: true, data }
    },
  )
}

function accountsRoutes(app: App, { db, config, passwordCost }: AccountRoutesOptions): void {
  const common = { description: 'Requires an administrator.' }
  const acts = {
    description:
      'Requires a session of an administrator who entered the password within the last ten minutes. API tokens are rejected.',
  }
  app.get(
    '/api/v1/accounts',
    {
      schema: {
        summary: 'List accounts',
        ...common,
        querystring: AccountQuery,
        response: responses(Success(AccountPage)),
      },
    },
    async ({ query: { page, limit, q, sort: order } }) => {
      const total = await countAccounts(db, q)
      const accounts = await listAccounts(db, { q, order }, sliceOf({ page, limit }))
      return { success: true, data: { accounts, pagination: paginationOf({ page, limit }, total) } }
    },
  )
  app.post(
    '/api/v1/accounts',
    {
      schema: {
        summary: 'Create an account',
        ...acts,
        body: NewAccount,
        response: responses(Success(Account), 201),
      },
    },
    async ({ body }, reply) => {
      const plan = body.plan ?? config.DEFAULT_PLAN
      const data = await createAccount(db, { ...body, plan }, passwordCost)
      return reply.code(201).send({ success: true, data })
    },
  )
  app.patch(
    '/api/v1/accounts/:id',
    {
      schema: {
        summary: 'Change an account',
        ...acts,
        params,
        body: AccountChange,
        response: responses(Success(Account)),
      },
    },
    async ({ params: { id }, body: { name, plan, admin } }) => {
      return { success: true, data: await changeAccount(db, id, { name, plan, admin }) }
    },
  )
  app.delete(
    '/api/v1/accounts/:id',
    {
      schema: {
        summary: 'Delete an account',
        ...acts,
        params,
        response: responses(Done),
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
  {
    db,
    auth,
    trustedClients,
    signUp,
    provider,
    config,
    secretKey,
    version,
    passwordCost,
  }: AccountRoutesOptions,
): void {
  const facts = {
    name: 'Portreeve' as const,
    version,
    signup: isSignUpOpen(config),
    mail: config.SMTP_URL !== undefined,
    passwordSignIn: config.PASSWORD_SIGN_IN === 'on',
    passkeys: supportsPasskeys(config.BASE_URL),
    oidc: provider && { name: provider.name },
  }
  app.get(
    '/api/v1/service',
    {
      schema: {
        summary: 'Get service information',
        response: responses(Success(ServiceInfo)),
      },
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
        body: Setup,
        response: responses(Success(Account), 201),
      },
    },
    async (request, reply) => {
      const { token, ...person } = request.body
      await requireSetupToken({ db, secretKey }, token)
      const data = await createFirstAccount(db, person, passwordCost)
      const cookies = await createSession(auth, request, person.email, person.password)
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
        body: Type.Object({ token: Type.String({ maxLength: 4000 }) }),
        response: responses(Success(Account), 201),
      },
    },
    async (request, reply) => {
      if (!isSignUpOpen(config)) throw new Fault('forbidden', 'Sign-up is closed on this service.')
      return reply.code(201).send({ success: true, data: await signUp.confirm(request.body.token) })
    },
  )
}
