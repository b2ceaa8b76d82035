import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { callerOf, requireFreshSession } from '../../../http/auth.ts'
import { Done, responses, Success, Uuid } from '../../../http/http-schema.ts'
import type { App } from '../../../http/http-server.ts'
import type { DB } from '../../../store/tables.ts'
import type { MembershipMails } from '../../mail/membership-mails.ts'
import { workspaceParams } from '../routes.ts'
import { Member, MemberChange } from '../shapes.ts'
import { changeRole, removeMember } from './members.ts'
import { listMembers } from './members.sql.ts'

const params = Type.Object({ workspaceId: Uuid, accountId: Uuid })

type MemberRoutesDeps = { db: Kysely<DB>; membershipMails: MembershipMails }

/** The members of a workspace: `/api/v1/workspaces/:workspaceId/members`. */
export function memberRoutes(app: App, { db, membershipMails }: MemberRoutesDeps): void {
  const changes = { security: [{ session: [] }], params }
  app.get(
    '/api/v1/workspaces/:workspaceId/members',
    {
      schema: {
        summary: 'List members',
        params: workspaceParams,
        response: responses(Success(Type.Array(Member))),
      },
    },
    async (request) => {
      const { workspaceId, accountId } = callerOf(request)
      const members = await listMembers(db, workspaceId)
      const data = members.map((member) => ({ ...member, isYou: member.accountId === accountId }))
      return { success: true, data }
    },
  )
  app.patch(
    '/api/v1/workspaces/:workspaceId/members/:accountId',
    {
      config: { role: 'admin' },
      onRequest: requireFreshSession,
      schema: {
        summary: 'Change the role of a member',
        ...changes,
        description:
          'Requires the role `admin` and a recent sign-in. Only owners can change owners or make a member an owner, which needs a place for one more workspace in the plan of the member. API tokens of the member act with the new role.',
        body: MemberChange,
        response: responses(Success(Member)),
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { workspaceId } = caller
      const { accountId } = request.params
      const { role } = request.body
      const { member, workspace, isChanged } = await changeRole(
        db,
        { workspaceId, accountId },
        role,
        caller,
      )
      const isYou = accountId === caller.accountId
      if (isChanged && !isYou) membershipMails.sendRoleChanged(caller, member, workspace)
      return { success: true, data: { ...member, isYou } }
    },
  )
  app.delete(
    '/api/v1/workspaces/:workspaceId/members/:accountId',
    {
      // Everybody may leave; removing others is checked with the members.
      config: { role: 'read-only' },
      onRequest: requireFreshSession,
      schema: {
        summary: 'Remove a member',
        ...changes,
        description:
          'Requires the role `admin` and a recent sign-in; members can remove themselves to leave. Only owners can remove owners, and the last owner cannot leave. API tokens of the member in this workspace are revoked.',
        response: responses(Done),
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { workspaceId } = caller
      const { accountId } = request.params
      const { member, workspace } = await removeMember(db, { workspaceId, accountId }, caller)
      if (accountId !== caller.accountId) membershipMails.sendRemoved(caller, member, workspace)
      return { success: true as const }
    },
  )
}
