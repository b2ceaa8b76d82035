import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { callerOf, requireFreshSession, requireSession, type Caller } from '../../http/auth.ts'
import { Done, responses, Success, Timestamp, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { DB } from '../../store/tables.ts'
import { NewWorkspace, Workspace, WorkspaceChange, WorkspaceDeletion } from './shapes.ts'
import { findWorkspaceOf, listWorkspaces, type WorkspaceRow } from './workspaces.sql.ts'
import { auditInWorkspace } from '../audit/record-change.ts'
import {
  createWorkspace,
  deleteWorkspace,
  renameWorkspace,
  restoreWorkspace,
  workspaceNotFound,
} from './workspaces.ts'

export const workspaceParams = Type.Object({ workspaceId: Uuid })

/** The workspaces of the caller: `/api/v1/workspaces`. */
export function workspaceRoutes(app: App, { db }: { db: Kysely<DB> }): void {
  const security = [{ session: [] }]
  app.get(
    '/api/v1/workspaces',
    {
      config: { access: 'own' },
      schema: {
        summary: 'List workspaces',
        description:
          'The workspaces that the account is a member of, oldest membership first. Owners also get deleted ones that they can restore. With an API token, only the workspace of the token.',
        response: responses(Success(Type.Array(Workspace))),
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const rows = await listWorkspaces(db, caller.accountId)
      const visible = caller.via === 'token' ? rows.filter(({ id }) => isCurrent(caller, id)) : rows
      return { success: true, data: visible.map((row) => present(caller, row)) }
    },
  )
  app.post(
    '/api/v1/workspaces',
    {
      config: { access: 'own' },
      onRequest: requireSession,
      schema: {
        summary: 'Create a workspace',
        security,
        description:
          'Requires a session. The workspace gets the plan of the account, which also limits how many workspaces it can own.',
        body: NewWorkspace,
        response: responses(Success(Workspace), 201),
      },
    },
    async (request, reply) => {
      const caller = callerOf(request)
      const row = await createWorkspace(db, caller.accountId, request.body.name)
      auditInWorkspace(request, row.id)
      return reply.code(201).send({ success: true, data: present(caller, row) })
    },
  )
  app.patch(
    '/api/v1/workspaces/:workspaceId',
    {
      config: { role: 'admin' },
      schema: {
        summary: 'Rename a workspace',
        description: 'Requires the role `admin`.',
        params: workspaceParams,
        body: WorkspaceChange,
        response: responses(Success(Workspace)),
      },
    },
    async (request) => {
      const caller = callerOf(request)
      await renameWorkspace(db, caller.workspaceId, request.body.name, caller)
      return { success: true, data: await find(db, caller, caller.workspaceId) }
    },
  )
  app.delete(
    '/api/v1/workspaces/:workspaceId',
    {
      config: { role: 'owner' },
      onRequest: requireFreshSession,
      schema: {
        summary: 'Delete a workspace',
        security,
        description:
          'Requires an owner, a recent sign-in and the name of the workspace. All members, tokens and keys lose access at once, webhook endpoints and report addresses stop, and background work ends. An owner can restore the workspace within 7 days; then all its data is deleted.',
        params: workspaceParams,
        body: WorkspaceDeletion,
        response: responses(Success(Type.Object({ deleteAfter: Timestamp }))),
      },
    },
    async (request) => {
      const caller = callerOf(request)
      const { name } = request.body
      const deleteAfter = await deleteWorkspace(db, caller.workspaceId, name, caller)
      return { success: true, data: { deleteAfter } }
    },
  )
  app.post(
    '/api/v1/workspaces/:id/restore',
    {
      // A deleted workspace cannot be the one that a request is for.
      config: { access: 'own' },
      onRequest: requireFreshSession,
      schema: {
        summary: 'Restore a deleted workspace',
        security,
        description:
          'Requires an owner of the workspace and a recent sign-in. Restores members, API tokens and data.',
        params: Type.Object({ id: Uuid }),
        response: responses(Done),
      },
    },
    async (request) => {
      await restoreWorkspace(db, request.params.id, callerOf(request))
      auditInWorkspace(request, request.params.id)
      return { success: true as const }
    },
  )
}

const isCurrent = ({ workspaceId }: Caller, id: string) => workspaceId === id

const present = (caller: Caller, row: WorkspaceRow) => ({
  ...row,
  isCurrent: isCurrent(caller, row.id),
})

async function find(db: Kysely<DB>, caller: Caller, id: string) {
  const row = await findWorkspaceOf(db, caller.accountId, id)
  if (!row) throw workspaceNotFound()
  return present(caller, row)
}
