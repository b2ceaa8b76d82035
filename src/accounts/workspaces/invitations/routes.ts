import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { callerOf, requireFreshSession, requireSession } from '../../../http/auth.ts'
import { Done, responses, Success, Uuid } from '../../../http/schema.ts'
import type { App } from '../../../http/server.ts'
import type { DB } from '../../../store/tables.ts'
import { auditInWorkspace } from '../../audit/record.ts'
import type { MembershipMails } from '../../mail/membership-mails.ts'
import { workspaceParams } from '../routes.ts'
import {
  Invitation,
  InvitationPreview,
  InvitationToken,
  IssuedInvitation,
  NewInvitation,
  Workspace,
} from '../shapes.ts'
import { findWorkspaceOf } from '../store.ts'
import {
  acceptInvitation,
  createInvitation,
  previewInvitation,
  revokeInvitation,
} from './invitations.ts'
import { listInvitations } from './store.ts'

type InvitationRoutesDeps = { db: Kysely<DB>; membershipMails: MembershipMails; baseUrl: string }

const tags = ['Workspaces']

/**
 * Shows what an invitation offers, without an account. Only POST requests with the token have an
 * effect or an answer: programs that open the links of an email do not use it up.
 */
export function invitationPreviewRoute(app: App, { db }: { db: Kysely<DB> }): void {
  app.post(
    '/api/v1/invitations/preview',
    {
      config: { limit: 'invitation previews' },
      schema: {
        summary: 'Preview an invitation',
        operationId: 'previewInvitation',
        tags,
        body: InvitationToken,
        response: responses(Success(InvitationPreview)),
      },
    },
    async (request) => ({ success: true, data: await previewInvitation(db, request.body.token) }),
  )
}

/** Invitations to workspaces: `/api/v1/workspaces/:workspaceId/invitations`, `/api/v1/invitations`. */
export function invitationRoutes(
  app: App,
  { db, membershipMails, baseUrl }: InvitationRoutesDeps,
): void {
  const security = [{ session: [] }]
  app.get(
    '/api/v1/workspaces/:workspaceId/invitations',
    {
      config: { role: 'admin' },
      schema: {
        summary: 'List open invitations',
        tags,
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
        tags,
        security,
        description:
          'Requires the role `admin` and a recent sign-in. With an email address, only an account with that verified address can accept; without one, anyone with the link. The link works once, within 7 days. Inviting an address again replaces the earlier invitation.',
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
      const invitation = await createInvitation(deps, { workspaceId, accountId, email, role })
      const isMailed = await membershipMails.sendInvitation(caller, invitation, request.ip)
      return reply.code(201).send({ success: true, data: { ...invitation, isMailed } })
    },
  )
  app.delete(
    '/api/v1/workspaces/:workspaceId/invitations/:id',
    {
      config: { role: 'admin' },
      schema: {
        summary: 'Revoke an invitation',
        tags,
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
        tags,
        security,
        description:
          'Requires a session. Makes the account a member of the workspace. As an owner, it needs a place for one more workspace in its plan; otherwise the answer is 409 and the invitation stays open.',
        body: InvitationToken,
        response: responses(Success(Workspace)),
      },
    },
    async (request) => {
      const { accountId, workspaceId: current } = callerOf(request)
      const id = await acceptInvitation(db, accountId, request.body.token)
      auditInWorkspace(request, id)
      const row = await findWorkspaceOf(db, accountId, id)
      return { success: true, data: { ...row, isCurrent: id === current } }
    },
  )
}
