import type { Kysely, Transaction } from 'kysely'
import { Fault } from '../errors.ts'
import { defineJob, type Enqueue, type Job } from '../jobs/job.ts'
import { WorkspaceDeleted } from '../jobs/workspace-guard.ts'
import type { DB } from '../store/tables.ts'
import { checkAdministrator, type AdministratorDeps } from './administrator/save.ts'
import { KEEP_DAYS } from './limits.ts'
import {
  deleteCredential,
  extendCredentials,
  listExpiredCredentials,
  listRejectedAdministrators,
} from './mail-credentials.sql.ts'

export type CleanUpDeps = {
  db: Kysely<DB>
  /** Whether work without an end of its own uses a credential, which is then kept. */
  isKept: (trx: Transaction<DB>, workspaceId: string, credentialId: string) => Promise<boolean>
}

/** Continues what waits for a credential that was renewed, in the same transaction. */
export type OnRenewed = (
  trx: Transaction<DB>,
  credential: { workspaceId: string; credentialId: string },
  enqueue: Enqueue,
) => Promise<void>

/** Deletes credentials that are no longer needed, and ended sign-ins, every hour. */
export function cleanUpCredentialsJob({ db, isKept }: CleanUpDeps): Job {
  return defineJob({
    name: 'mail-credentials.clean-up',
    schedule: '23 * * * *',
    async run(_data, { log }) {
      let deleted = 0
      for (const { id, workspaceId } of await listExpiredCredentials(db))
        await db.transaction().execute(async (trx) => {
          if (await isKept(trx, workspaceId, id))
            await extendCredentials(trx, workspaceId, [id], KEEP_DAYS.used)
          else if (await deleteCredential(trx, workspaceId, id)) deleted += 1
        })
      if (deleted > 0)
        log.info({ deleted }, 'sign-ins to mailboxes that were no longer used deleted')
    },
  })
}

/** Checks rejected sign-ins of administrators again, which may have been corrected there. */
export function recheckAdministratorsJob({
  onRenewed,
  ...deps
}: Omit<AdministratorDeps, 'onRenewed'> & { onRenewed: OnRenewed }): Job {
  return defineJob({
    name: 'mail-credentials.recheck',
    schedule: '*/10 * * * *',
    deadline: 300,
    async run(_data, { enqueue, inWorkspace }) {
      const checks: AdministratorDeps = {
        ...deps,
        onRenewed: (trx, workspaceId, credentialId) =>
          onRenewed(trx, { workspaceId, credentialId }, enqueue),
      }
      for (const { id, workspaceId } of await listRejectedAdministrators(deps.db))
        await inWorkspace(workspaceId, () => checkAdministrator(checks, workspaceId, id)).catch(
          (error: unknown) => {
            if (!(error instanceof Fault || error instanceof WorkspaceDeleted)) throw error
          },
        )
    },
  })
}
