import type { FastifyRequest } from 'fastify'
import { Type, type Static } from 'typebox'
import { callerOf } from '../../http/auth.ts'
import { paginationOf, responses, sliceOf, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { Db } from '../../store/database.ts'
import { AuditPage, AuditQuery } from '../shapes.ts'
import { countAuditEntries, listAuditEntries } from './audit-log.sql.ts'

/** A text is searched in all entries. */
const limit = ({ query }: FastifyRequest) => ((query as { q?: string }).q ? 'searches' : null)

/** `/api/v1/audit`: the actions of administrators. */
export function auditRoute(app: App, { db }: { db: Db }): void {
  app.get(
    '/api/v1/audit',
    {
      config: { limit },
      schema: {
        summary: 'List audit log entries',
        description:
          'Requires an administrator. Lists administrator actions of the last 400 days, newest first. Workspaces have their own log.',
        querystring: AuditQuery,
        response: responses(Success(AuditPage)),
      },
    },
    async ({ query }) => ({ success: true, data: await readPage(db, null, query) }),
  )
}

/** `/api/v1/workspaces/:workspaceId/audit`: who changed what in a workspace. */
export function workspaceAuditRoute(app: App, { db }: { db: Db }): void {
  app.get(
    '/api/v1/workspaces/:workspaceId/audit',
    {
      config: { limit, role: 'admin', access: 'workspace' },
      schema: {
        summary: 'List audit log entries of a workspace',
        description:
          'Requires an admin of the workspace. Lists the changes of the last 400 days, newest first.',
        params: Type.Object({ workspaceId: Uuid }),
        querystring: AuditQuery,
        response: responses(Success(AuditPage)),
      },
    },
    // The workspace that the caller was checked for, which is the one in the path.
    async (request) => ({
      success: true,
      data: await readPage(db, callerOf(request).workspaceId, request.query),
    }),
  )
}

async function readPage(
  db: Db,
  workspaceId: string | null,
  { q: text, actor, ...page }: Static<typeof AuditQuery>,
) {
  const filter = { workspaceId, text, actor }
  const [entries, total] = await Promise.all([
    listAuditEntries(db, filter, sliceOf(page)),
    countAuditEntries(db, filter),
  ])
  return { entries, pagination: paginationOf(page, total) }
}
