import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { isAtLeast } from '../../http/access.ts'
import { callerOf, requireFreshSession, type Caller } from '../../http/auth.ts'
import { Done, responses, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { DB } from '../../store/tables.ts'
import { addAuditDetails } from '../audit/record-change.ts'
import type { AccountNotices } from '../mail/notices.ts'
import { IssuedToken, NewToken, Token } from '../shapes.ts'
import { originOf } from '../sign-in/open-session.ts'
import { listTokens } from './api-tokens.sql.ts'
import { issueToken, revokeToken, TOKENS_PER_WORKSPACE } from './api-tokens.ts'

/**
 * `/api/v1/tokens`: the API tokens of the current workspace. Members of every role have their own,
 * which never allow more than the role does; admins see and revoke all of them.
 */
export function tokenRoutes(
  app: App,
  { db, notices }: { db: Kysely<DB>; notices: AccountNotices },
): void {
  app.get(
    '/api/v1/tokens',
    {
      schema: {
        summary: 'List API tokens',
        description: 'Your tokens of the workspace; for its admins, the tokens of all members.',
        response: responses(Success(Type.Array(Token))),
      },
    },
    async (request) => {
      const { workspaceId, accountId } = manageableBy(callerOf(request))
      return { success: true, data: await listTokens(db, workspaceId, accountId) }
    },
  )
  app.post(
    '/api/v1/tokens',
    {
      config: { role: 'read-only' },
      onRequest: requireFreshSession,
      schema: {
        summary: 'Create an API token',
        description:
          'Requires a session with a recent sign-in: an API token cannot create tokens. The token works in this workspace only, ' +
          `and with the role that its creator has at the time of each request. A workspace can have up to ${TOKENS_PER_WORKSPACE} tokens.`,
        security: [{ session: [] }],
        body: NewToken,
        response: responses(IssuedToken, 201),
      },
    },
    async (request, reply) => {
      const { accountId, workspaceId, email } = callerOf(request)
      const { label, ...limits } = request.body
      const token = await issueToken(db, { accountId, workspaceId }, label, limits)
      addAuditDetails(request, { id: token.id, lastFour: token.lastFour })
      notices.send('tokenCreated', { id: accountId, email }, originOf(request))
      return reply.code(201).send({ success: true, ...token })
    },
  )
  app.delete(
    '/api/v1/tokens/:id',
    {
      config: { role: 'read-only' },
      schema: {
        summary: 'Revoke an API token',
        description: 'Your own; admins of the workspace can revoke the tokens of all members.',
        params: Type.Object({ id: Uuid }),
        response: responses(Done),
      },
    },
    async (request) => {
      const { label, lastFour } = await revokeToken(
        db,
        request.params.id,
        manageableBy(callerOf(request)),
      )
      addAuditDetails(request, { label, lastFour })
      return { success: true }
    },
  )
}

/** The tokens that a caller may see and revoke: all of the workspace, or only their own. */
function manageableBy({ workspaceId, accountId, role }: Caller): {
  workspaceId: string
  accountId?: string
} {
  return isAtLeast(role, 'admin') ? { workspaceId } : { workspaceId, accountId }
}
