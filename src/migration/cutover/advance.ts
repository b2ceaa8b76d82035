import type { Transaction } from 'kysely'
import type { Enqueue, Job } from '../../jobs/job.ts'
import type { DB } from '../../store/tables.ts'
import { HOUR_MS } from '../../time.ts'
import { queueMailboxes } from '../batches/batch-progress.sql.ts'
import { updateBatch } from '../batches/batches.sql.ts'
import { NO_SYNC } from '../batches/sync-columns.ts'
import { requestProofsOfBatch } from '../proof/proof-actions.ts'
import type { ProofData } from '../proof/proof-job.ts'
import { countBatchProofs } from '../proof/proofs.sql.ts'
import { deleteBatchSyncs } from '../sync/syncs.sql.ts'
import { ttlEverywhereAt } from './dns-facts.ts'
import { makePassesDue, readFinalPass, readWatch } from './cutover-mailboxes.sql.ts'
import { hasHosts } from './cutover-mx.ts'
import { openStepOf, type StepName } from './steps.ts'
import {
  closeStep,
  endCutover,
  listSteps,
  lockCutover,
  markSwitched,
  type CutoverRow,
} from './cutovers.sql.ts'

export type AdvanceDeps = {
  enqueue: Enqueue
  scheduler: Job
  syncJob: Job
  proofJob: Job<ProofData>
}

/** Why a step is done, as a sentence; null while it is not. */
type Check = (
  trx: Transaction<DB>,
  cutover: CutoverRow,
  deps: AdvanceDeps,
) => Promise<string | null>

const CHECKS: Record<StepName, Check> = {
  async ttl(_trx, cutover) {
    if (cutover.switchedAt) return 'The MX records point to the new hosts already.'
    const everywhereAt = ttlEverywhereAt(cutover)
    if (everywhereAt === null || everywhereAt > new Date()) return null
    return `Every name server has had a TTL of at most ${cutover.targetTtl} seconds for as long as the old one lasted.`
  },
  async switch(_trx, cutover) {
    const { switchedAt, revertedAt, dns, expectedMx } = cutover
    if (switchedAt === null || revertedAt !== null || dns === null) return null
    if (dns.resolver.problem !== null || !hasHosts(dns.resolver, expectedMx)) return null
    return 'Every name server and the resolver have the new MX records.'
  },
  async quiet(trx, cutover, { enqueue, syncJob }) {
    const since = quietSince(cutover)
    if (since === null) return null
    const quietAt = new Date(since.getTime() + cutover.quietHours * HOUR_MS)
    if (quietAt > new Date()) return null
    const { unwatched, watchedUntil } = await readWatch(trx, cutover)
    if (unwatched > 0 || watchedUntil === null) return null
    if (watchedUntil < quietAt) {
      if (await makePassesDue(trx, cutover, quietAt)) await enqueue(trx, syncJob, {})
      return null
    }
    return `No new message arrived at the old servers for ${cutover.quietHours} hours.`
  },
  async final_pass(trx, cutover, { enqueue, scheduler }) {
    if (cutover.finalStartedAt === null) return null
    const { active, failed, late, mailboxes } = await readFinalPass(trx, cutover)
    if (late.length > 0) {
      // A pass that had begun before ends first.
      const states = ['in_sync', 'ready'] as const
      await queueMailboxes(trx, cutover.batchId, states, 'sync', { ids: late })
      await enqueue(trx, scheduler, {})
    }
    return active + failed + late.length > 0 ? null : `All ${mailboxes} mailboxes had a final pass.`
  },
  async proof(trx, { batchId }) {
    const { mailboxes, waiting, done, incomplete } = await countBatchProofs(trx, batchId)
    if (waiting > 0 || done < mailboxes || incomplete > 0) return null
    return `The proofs of all ${mailboxes} mailboxes are complete.`
  },
}

/** Since when no message has arrived at the old servers; null before the switch. */
export function quietSince({
  switchedAt,
  lastArrivalAt,
}: Pick<CutoverRow, 'switchedAt' | 'lastArrivalAt'>): Date | null {
  if (switchedAt === null) return null
  return lastArrivalAt && lastArrivalAt > switchedAt ? lastArrivalAt : switchedAt
}

/** Closes the steps that are done, one after the other, and does what comes after them. */
export async function advance(trx: Transaction<DB>, id: string, deps: AdvanceDeps): Promise<void> {
  for (;;) {
    const cutover = await lockCutover(trx, id)
    if (!cutover) return
    const step = openStepOf(await listSteps(trx, id))?.step
    if (step === undefined) return
    const reason = await CHECKS[step](trx, cutover, deps)
    if (reason === null) return
    await closeStep(trx, id, step, { outcome: 'seen', note: reason })
    await afterStep(trx, cutover, step, deps)
  }
}

/** What follows a step, whoever closed it. */
export async function afterStep(
  trx: Transaction<DB>,
  { id, batchId, workspaceId, proofLevel }: CutoverRow,
  step: StepName,
  { enqueue, proofJob }: AdvanceDeps,
): Promise<void> {
  if (step === 'switch') await markSwitched(trx, id)
  if (step === 'final_pass') {
    await updateBatch(trx, batchId, NO_SYNC)
    await deleteBatchSyncs(trx, batchId)
    await requestProofsOfBatch(trx, { workspaceId, id: batchId }, proofLevel, {
      queue: { enqueue },
      proofJob,
    })
  }
  if (step === 'proof') await endCutover(trx, id, 'done')
}
