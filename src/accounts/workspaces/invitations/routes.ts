import type { Kysely } from 'kysely'
import type { Config } from '../../../config.ts'
import { Fault } from '../../../errors.ts'
import { Type } from 'typebox'
import { callerOf, requireFreshSession, requireSession } from '../../../http/auth.ts'
import { Done, responses, Success, Uuid } from '../../../http/http-schema.ts'
import type { App } from '../../../http/http-server.ts'
import type { DB } from '../../../store/tables.ts'
import { auditInWorkspace } from '../../audit/record-change.ts'
import type { AuditWriter } from '../../audit/writer.ts'
import type { Auth } from '../../sign-in/better-auth-loader.ts'
import { createSession } from '../../sign-in/auth-routes.ts'
import type { TrustedClients } from '../../sign-in/trusted-clients.ts'
import type { MembershipMails } from '../../mail/membership-mails.ts'
import { workspaceParams } from '../routes.ts'
import {
  Invitation,
  InvitationPreview,
  InvitationSignUp,
  InvitationToken,
  InvitedAccount,
  IssuedInvitation,
  NewInvitation,
  Workspace,
} from '../shapes.ts'
import { findWorkspaceOf } from '../workspaces.sql.ts'
import { mailedToken } from './invitation-token.ts'
import {
  acceptInvitation,
  createInvitation,
  previewInvitation,
  revokeInvitation,
  signUpByInvitation,
} from './invitations.ts'
import { listInvitations } from './invitations.sql.ts'

type InvitationRoutesDeps = {
  db: Kysely<DB>
  secretKey: string
  membershipMails: MembershipMails
  baseUrl: string
}

/**
 * Shows what an invitation offers, without an account. Only POST requests with the token have an
 * effect or an answer: programs that open the links of an email do not use it up.
 */
export function invitationPreviewRoute(
  app: App,
  deps: { db: Kysely<DB>; secretKey: string },
): void {
  app.post(
    '/api/v1/invitations/preview',
    {
      config: { limit: 'invitation previews' },
      schema: {
        summary: 'Preview an invitation',
        operationId: 'previewInvitation',
        body: InvitationToken,
        response: responses(Success(InvitationPreview)),
      },
    },
    async (request) => ({ success: true, data: await previewInvitation(deps, request.body.token) }),
  )
}

type InvitationSignUpDeps = {
  db: Kysely<DB>
  secretKey: string
  auth: Auth
  trustedClients: TrustedClients
  auditWriter: AuditWriter
  config: Pick<Config, 'DEFAULT_PLAN' | 'PASSWORD_SIGN_IN'>
  passwordCost?: number | undefined
}

/** Creates the account of an invited address, also while sign-up is closed. */
export function invitationSignUpRoute(app: App, deps: InvitationSignUpDeps): void {
  const { auth, trustedClients, auditWriter, config } = deps
  app.post(
    '/api/v1/invitations/sign-up',
    {
      config: { limit: 'invitation previews' },
      schema: {
        summary: 'Create an account by an invitation',
        operationId: 'signUpByInvitation',
        description:
          'Creates the account of the invited email address, makes it a member, and signs in. Works once, also while sign-up is closed. 403 for an invitation without an address, and where passwords are turned off; 409 when the address has an account.',
        body: InvitationSignUp,
        response: responses(Success(InvitedAccount), 201),
      },
    },
    async (request, reply) => {
      if (config.PASSWORD_SIGN_IN !== 'on')
        throw new Fault('forbidden', 'Sign-in with a password is turned off on this service.')
      const options = { ...deps, plan: config.DEFAULT_PLAN }
      const { account, workspaceId, role } = await signUpByInvitation(options, request.body)
      await auditWriter.write({
        workspaceId,
        actorId: account.id,
        actorEmail: account.email,
        token: null,
        what: 'Create an account by an invitation',
        route: 'POST /api/v1/invitations/sign-up',
        details: { role },
      })
      const cookies = await createSession(auth, request, account.email, request.body.password)
      const trusted = await trustedClients.remember(request, account.email)
      reply.header('set-cookie', [...cookies, trusted])
      return reply.code(201).send({ success: true, data: { ...account, workspaceId } })
    },
  )
}

/** Invitations to workspaces: `/api/v1/workspaces/:workspaceId/invitations`, `/api/v1/invitations`. */
export function invitationRoutes(
  app: App,
  { db, secretKey, membershipMails, baseUrl }: InvitationRoutesDeps,
): void {
  const security = [{ session: [] }]
  app.get(
    '/api/v1/workspaces/:workspaceId/invitations',
    {
      config: { role: 'admin' },
      schema: {
        summary: 'List open invitations',
        description: 'Requires the role `admin`. Newest first.',
        params: workspaceParams,
        response: responses(Success(Type.Array(Invitation))),
      },
    },
    async (request) => ({
      success: true,
      data: await listInvitations(db, callerOf(request).workspaceId),
    }),
  )
  app.post(
    '/api/v1/workspaces/:workspaceId/invitations',
    {
      config: { role: 'admin' },
      onRequest: requireFreshSession,
      schema: {
        summary: 'Invite to a workspace',
        operationId: 'createInvitation',
        security,
        description:
          'Requires the role `admin` and a recent sign-in. With an email address, only an account with that verified address can accept, or one that the link creates; without one, any account with the link. The link works once, within 7 days. Inviting an address again replaces the earlier invitation.',
        params: workspaceParams,
        body: NewInvitation,
        response: responses(Success(IssuedInvitation), 201),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const { workspaceId, accountId } = caller
      const { email, role } = request.body
      const deps = { db, baseUrl }
      const wanted = { workspaceId, accountId, email, role }
      const { token, ...invitation } = await createInvitation(deps, wanted)
      // The emailed link proves the address; the one that the member sees does not.
      const url = `${baseUrl}/invitation#${mailedToken(token, secretKey)}`
      const isMailed = await membershipMails.sendInvitation(
        caller,
        { ...invitation, url },
        request.ip,
      )
      return reply.code(201).send({ success: true, data: { ...invitation, isMailed } })
    },
  )
  app.delete(
    '/api/v1/workspaces/:workspaceId/invitations/:id',
    {
      config: { role: 'admin' },
      schema: {
        summary: 'Revoke an invitation',
        description: 'Requires the role `admin`.',
        params: Type.Object({ workspaceId: Uuid, id: Uuid }),
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId, accountId } = callerOf(request)
      await revokeInvitation(db, { workspaceId, accountId, id: request.params.id })
      return { success: true as const }
    },
  )
  app.post(
    '/api/v1/invitations/accept',
    {
      onRequest: requireSession,
      schema: {
        summary: 'Accept an invitation',
        operationId: 'acceptInvitation',
        security,
        description:
          'Requires a session. Makes the account a member of the workspace. As an owner, it needs a place for one more workspace in its plan; otherwise the answer is 409 and the invitation stays open.',
        body: InvitationToken,
        response: responses(Success(Workspace)),
      },
    },
    async (request) => {
      const { accountId, workspaceId: current } = callerOf(request)
      const id = await acceptInvitation({ db, secretKey }, accountId, request.body.token)
      auditInWorkspace(request, id)
      const row = await findWorkspaceOf(db, accountId, id)
      return { success: true, data: { ...row, isCurrent: id === current } }
    },
  )
}
