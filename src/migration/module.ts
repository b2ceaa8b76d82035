import type { Transaction } from 'kysely'
import type { Enqueue, Job } from '../jobs/job.ts'
import type { DB } from '../store/tables.ts'
import type { RouteContext } from '../module.ts'
import type { Routes } from '../http/scopes.ts'
import { futureTimestamps, type FutureTimestamp } from '../store/clock.ts'
import { futureTimestampsOf } from '../store/due-rows.ts'
import type { Notifications } from '../store/notifications.ts'
import { batchRoutes } from './batches/routes.ts'
import { batchSchedulerJob } from './batches/batch-scheduler.ts'
import { migrationJob, type MigrationJobDeps } from './migration-jobs.ts'
import { migrationRoutes } from './routes.ts'
import { abandonedMigrationsJob, resumeAfterConsent } from './consent/resume.ts'
import { Fault } from '../errors.ts'
import type { Owner } from '../mail-credentials/consent/owner.ts'
import type { Db } from '../store/database.ts'
import { acceptSecret, verifySecret } from './owner-links/accept.ts'
import { ownerPageRoutes, type OwnerPageDeps } from './owner-links/owner-page-routes.ts'
import { ownerLinkRoutes } from './owner-links/routes.ts'
import { ownerAccessRoutes } from './owner-links/withdrawal/withdrawal-page-routes.ts'
import type { WithdrawDeps } from './owner-links/withdrawal/withdraw-permission.ts'
import { findLinkById, type OpenedLink } from './owner-links/owner-links.sql.ts'
import { deriveKey } from '../derive-key.ts'
import { cutoverJob as createCutoverJob } from './cutover/cutover-job.ts'
import { cutoverRoutes } from './cutover/routes.ts'
import { CUTOVER_LIMITS } from './cutover/limits.ts'
import { DUE_CUTOVERS } from './cutover/cutovers.sql.ts'
import { proofJob as createProofJob } from './proof/proof-job.ts'
import { proofKeyRoute, proofRoutes } from './proof/routes.ts'
import { createProofKey } from './proof/signed-file.ts'
import { DAY_SECONDS } from '../time.ts'
import { DUE_SYNCS } from './sync/checks/sync-checks.sql.ts'
import { syncJob } from './sync/sync-job.ts'
import { syncRoutes } from './sync/routes.ts'

/**
 * After a clock is set back, future values would make a dead worker look alive and keep its queue
 * waiting.
 */
const FUTURE_TIMESTAMPS: FutureTimestamp[] = [
  ...futureTimestamps('database', [
    ['migration', 'alive_at', 0],
    ['migration', 'queued_at', 0],
  ]),
  // The next month is the farthest time of a pass.
  ...futureTimestampsOf(DUE_SYNCS, { clock: 'database', aheadSeconds: 31 * DAY_SECONDS }),
  ...futureTimestampsOf(DUE_CUTOVERS, {
    clock: 'database',
    aheadSeconds: CUTOVER_LIMITS.checkSeconds,
  }),
]

/** The purpose of the key that signs proofs. */
export const PROOF_KEY = 'proofs of migrations'

type OwnerPages = Pick<OwnerPageDeps, 'baseUrl' | 'clients' | 'startOwnerConsent'> &
  Pick<WithdrawDeps, 'eraseCredential'>

/** Creates the migration module: its jobs and its routes. */
export function createMigrationModule({
  notifications,
  ownerPages,
  ...deps
}: MigrationJobDeps & { notifications: Notifications; ownerPages: OwnerPages }) {
  const job = migrationJob({
    ...deps,
    batchScheduler: () => scheduler,
    cutoverJob: () => cutoverJob,
  })
  const scheduler = batchSchedulerJob({ ...deps, job })
  const sync = syncJob({ ...deps, job, batchScheduler: scheduler })
  const proofJob = createProofJob({ ...deps, cutoverJob: () => cutoverJob })
  const cutoverJob: Job = createCutoverJob({ ...deps, scheduler, syncJob: sync, proofJob })
  const proofKey = createProofKey(deriveKey(deps.secretKey, PROOF_KEY))
  return {
    jobs: [job, scheduler, sync, proofJob, cutoverJob, abandonedMigrationsJob(deps)] as Job[],
    futureTimestamps: FUTURE_TIMESTAMPS,
    routes: {
      public(app, { queue }) {
        proofKeyRoute(app, { proofKey })
        const { enqueue } = queue
        ownerPageRoutes(app, { ...deps, ...ownerPages, job, scheduler, enqueue })
        ownerAccessRoutes(app, { ...deps, ...ownerPages, scheduler, enqueue })
      },
      account: (app, context) => {
        ownerLinkRoutes(app, { ...deps, baseUrl: ownerPages.baseUrl })
        migrationRoutes(app, { ...deps, ...context, job, notifications })
        syncRoutes(app, { ...deps, ...context, syncJob: sync })
        batchRoutes(app, { ...deps, ...context, scheduler, syncJob: sync, notifications })
        proofRoutes(app, { ...deps, ...context, proofJob, proofKey })
        cutoverRoutes(app, { ...deps, ...context, scheduler, syncJob: sync, proofJob, cutoverJob })
      },
    } satisfies Routes<Pick<RouteContext, 'queue' | 'events' | 'reauthenticate'>>,
    /** What owners of mailboxes sign in for. */
    owner: {
      async verify({ workspaceId, linkId }: Owner, accessToken: string) {
        await verifySecret(deps, await requireLink(deps.db, workspaceId, linkId), { accessToken })
      },
      async accept(
        trx: Transaction<DB>,
        { workspaceId, linkId }: Owner,
        credentialId: string,
        enqueue: Enqueue,
      ) {
        const link = await requireLink(trx, workspaceId, linkId)
        return acceptSecret(trx, { ...deps, job, scheduler }, link, { credentialId }, enqueue)
      },
    },
    /** Continues what waited for a credential, which was renewed. */
    onCredentialRenewed: (
      trx: Transaction<DB>,
      credential: { workspaceId: string; credentialId: string },
      enqueue: Enqueue,
    ) => resumeAfterConsent(trx, credential, { enqueue, job, scheduler }),
  }
}

/** @throws Fault `not_found` when the link was revoked */
async function requireLink(db: Db, workspaceId: string, id: string): Promise<OpenedLink> {
  const link = await findLinkById(db, workspaceId, id)
  if (link) return link
  throw new Fault('not_found', 'This link was revoked. Ask the person who sent it.')
}
