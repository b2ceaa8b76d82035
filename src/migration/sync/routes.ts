import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import { Done, responses, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { findMigration } from '../migrations.sql.ts'
import { confirmDeletions, setSync, stopSync, type SyncDeps } from './sync-actions.ts'
import { MigrationSync, MigrationSyncRequest, SyncPasses } from './shapes.ts'
import { countDeletions, findSync, listPasses } from './syncs.sql.ts'
import type { SyncRow } from './sync-row.ts'
import { presentPass, presentSync } from './sync-view.ts'

const params = Type.Object({ id: Uuid })
const path = '/api/v1/imap/migrate/:id/sync'

/** Registers the routes of the standing synchronization of a migration. */
export function syncRoutes(app: App, deps: SyncDeps): void {
  app.put(
    path,
    {
      config: { limit: 'connections' },
      schema: {
        summary: 'Synchronize a migration again and again',
        description:
          'Each pass copies new messages and follows flags, moves and deletions of copied ones. Calling it again changes the settings and starts a pass.',
        operationId: 'setMigrationSync',
        params,
        body: MigrationSyncRequest,
        response: responses(Success(MigrationSync)),
      },
    },
    async (request) => {
      const { id } = request.params
      await setSync(deps, { workspaceId: callerOf(request).workspaceId, id }, request.body)
      return { success: true, data: presentSync((await findSync(deps.db, id)) as SyncRow) }
    },
  )
  app.delete(
    path,
    {
      schema: {
        summary: 'End the synchronization of a migration',
        description: 'A running pass is completed. The passwords are deleted.',
        operationId: 'endMigrationSync',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      await stopSync(deps, { workspaceId: callerOf(request).workspaceId, id: request.params.id })
      return { success: true }
    },
  )
  app.post(
    `${path}/deletions`,
    {
      schema: {
        summary: 'Confirm the deletions of a migration that are held back',
        description:
          'When a folder of the source loses more than half of its messages in one pass, their copies are kept until this is called. The next pass deletes them.',
        operationId: 'confirmMigrationDeletions',
        params,
        response: responses(Success(MigrationSync)),
      },
    },
    async (request) => {
      const { id } = request.params
      await confirmDeletions(deps, { workspaceId: callerOf(request).workspaceId, id })
      return { success: true, data: presentSync((await findSync(deps.db, id)) as SyncRow) }
    },
  )
  app.get(
    `${path}/passes`,
    {
      schema: {
        summary: 'List the passes of a migration that changed something or failed',
        operationId: 'listMigrationPasses',
        params,
        response: responses(Success(SyncPasses)),
      },
    },
    async (request) => {
      const { id } = request.params
      if (!(await findMigration(deps.db, callerOf(request).workspaceId, id)))
        throw new Fault('not_found', 'The migration was not found.')
      const passes = (await listPasses(deps.db, id)).map(presentPass)
      return { success: true, data: { passes, deletions: await countDeletions(deps.db, id) } }
    },
  )
}
