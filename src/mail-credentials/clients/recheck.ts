import type { Transaction } from 'kysely'
import { Fault } from '../../errors.ts'
import { defineJob, type Enqueue, type Job } from '../../jobs/job.ts'
import type { DB } from '../../store/tables.ts'
import { probeClient, type CredentialDeps } from '../access-token.ts'
import type { OnRenewed } from '../mail-credentials-jobs.ts'
import type { MailProvider } from '../providers.ts'
import { fingerprintOf } from './client-fingerprint.ts'
import {
  deleteClientProblem,
  listClientProblems,
  listPermissions,
  markClientChecked,
  type ClientProblem,
} from './oauth-clients.sql.ts'

export type RecheckDeps = CredentialDeps & {
  onRenewed: OnRenewed
  /** Reports that a provider accepts the client again. */
  onClientAccepted: (
    trx: Transaction<DB>,
    workspaceId: string,
    provider: Pick<MailProvider, 'id' | 'name'>,
  ) => Promise<void>
}

/**
 * Continues what waits for rejected clients: at once when one was changed, otherwise when a check
 * succeeds, because it may have been corrected at the provider.
 */
export function recheckClientsJob(deps: RecheckDeps): Job {
  return defineJob({
    name: 'mail-credentials.clients',
    schedule: '* * * * *',
    uniqueBy: () => 'all',
    deadline: 300,
    async run(_data, { enqueue }) {
      for (const problem of await listClientProblems(deps.db)) {
        const client = await deps.clients.find(problem.provider)
        if (client && (await isAccepted(deps, problem, client.provider)))
          await continueWaiting(deps, client.provider, enqueue)
      }
    },
  })
}

async function isAccepted(
  deps: RecheckDeps,
  problem: ClientProblem,
  provider: MailProvider,
): Promise<boolean> {
  if (!fingerprintOf(provider).equals(problem.fingerprint)) return true
  if (problem.isChecked) return false
  const permissions = await listPermissions(deps.db, provider.id)
  if (permissions.length === 0) return true
  // Without one that may be used, the check waits.
  const permission = permissions.find((each) => !each.isInDeletedWorkspace)
  if (!permission) return false
  await markClientChecked(deps.db, provider.id)
  try {
    return await probeClient(deps, permission)
  } catch (error) {
    if (error instanceof Fault) return false
    throw error
  }
}

async function continueWaiting(
  { db, onRenewed, onClientAccepted }: RecheckDeps,
  provider: MailProvider,
  enqueue: Enqueue,
): Promise<void> {
  await deleteClientProblem(db, provider.id)
  const told = new Set<string>()
  for (const { id: credentialId, workspaceId } of await listPermissions(db, provider.id))
    await db.transaction().execute(async (trx) => {
      await onRenewed(trx, { workspaceId, credentialId }, enqueue)
      if (!told.has(workspaceId)) await onClientAccepted(trx, workspaceId, provider)
      told.add(workspaceId)
    })
}
