import { callerOf, requireFreshSession } from '../../http/auth.ts'
import { responsesAs, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { Type } from 'typebox'
import { OwnedRow, sendExport, type OwnDataDeps } from '../own-data/own-data-routes.ts'

/** `/api/v1/workspaces/:workspaceId/export`: all data of a workspace, for its owners. */
export function workspaceExportRoute(app: App, deps: Pick<OwnDataDeps, 'db' | 'exports'>): void {
  app.get(
    '/api/v1/workspaces/:workspaceId/export',
    {
      config: { limit: 'account exports', role: 'owner' },
      onRequest: requireFreshSession,
      schema: {
        summary: 'Export all data of a workspace',
        security: [{ session: [] }],
        description:
          'Requires an owner and a recent sign-in. One JSON object per line, `{"table": …, "row": {…}}`, as of the time of the request: ' +
          'every row that is deleted with the workspace. Tokens and other secrets are left out, because only their hashes or encrypted values are stored. ' +
          'Counts as an account export.',
        params: Type.Object({ workspaceId: Uuid }),
        produces: ['application/x-ndjson'],
        response: responsesAs('application/x-ndjson', OwnedRow, 'One line'),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const owner = { accountId: null, workspaceIds: [workspaceId] }
      return sendExport(deps, reply, owner, 'portreeve-workspace.ndjson')
    },
  )
}
