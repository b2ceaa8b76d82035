import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import {
  PageQuery,
  paginationOf,
  responses,
  sliceOf,
  Success,
  Uuid,
} from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { DB } from '../../store/tables.ts'
import { readQuotas, type UsageReaders } from '../own-data/usage-routes.ts'
import { InstalledWorkspace, InstalledWorkspacePage, WorkspacePlanChange } from './shapes.ts'
import {
  countWorkspaces,
  listInstalledWorkspaces,
  type InstalledWorkspaceRow,
} from './workspaces.sql.ts'
import { setWorkspacePlan } from './workspaces.ts'

/** `/api/v1/accounts/workspaces`: all workspaces, for administrators of the installation. */
export function installedWorkspacesRoutes(
  app: App,
  { db, readers }: { db: Kysely<DB>; readers: UsageReaders },
): void {
  async function withQuotas(rows: InstalledWorkspaceRow[]) {
    const ids = rows.map(({ id }) => id)
    const quotasOf = await readQuotas(readers, ids)
    return rows.map((row) => ({ ...row, quotas: quotasOf(row) }))
  }

  app.get(
    '/api/v1/accounts/workspaces',
    {
      schema: {
        summary: 'List all workspaces',
        operationId: 'listInstalledWorkspaces',
        description:
          'Requires an administrator. All workspaces of the service with their storage usage, oldest first.',
        querystring: PageQuery,
        response: responses(Success(InstalledWorkspacePage)),
      },
    },
    async ({ query: { page, limit } }) => {
      const total = await countWorkspaces(db)
      const rows = await listInstalledWorkspaces(db, sliceOf({ page, limit }))
      const workspaces = await withQuotas(rows)
      const pagination = paginationOf({ page, limit }, total)
      return { success: true, data: { workspaces, pagination } }
    },
  )
  app.patch(
    '/api/v1/accounts/workspaces/:id',
    {
      schema: {
        summary: 'Change the plan of a workspace',
        operationId: 'setWorkspacePlan',
        description:
          'Requires a session of an administrator who entered the password within the last ten minutes. API tokens are rejected.',
        params: Type.Object({ id: Uuid }),
        body: WorkspacePlanChange,
        response: responses(Success(InstalledWorkspace)),
      },
    },
    async ({ params: { id }, body: { plan } }) => {
      const [data] = await withQuotas([await setWorkspacePlan(db, id, plan)])
      return { success: true, data }
    },
  )
}
