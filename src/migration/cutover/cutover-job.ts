import type { Kysely } from 'kysely'
import { messageOf } from '../../errors.ts'
import { defineJob, type Enqueue, type Job } from '../../jobs/job.ts'
import { WorkspaceDeleted } from '../../jobs/workspace-guard.ts'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import type { AuthoritativeDeps } from '../../net/dns-authoritative.ts'
import { DAY_SECONDS, SECOND_MS } from '../../time.ts'
import { lockScheduling } from '../batches/schedule/batch-schedule.sql.ts'
import { lockBatch, notifyBatch } from '../batches/batches.sql.ts'
import type { ProofData } from '../proof/proof-job.ts'
import { advance } from './advance.ts'
import { raiseCutoverAlerts } from './cutover-alerts.ts'
import { countArrivals } from './arrivals.ts'
import { addObservation } from './dns-facts.ts'
import { CUTOVER_LIMITS } from './limits.ts'
import { observeMx, type MxObservation } from './cutover-mx.ts'
import { openStepOf, type StepRow } from './steps.ts'
import {
  claimDueCutovers,
  endCutover,
  listSteps,
  lockCutover,
  markSwitched,
  releaseCutover,
  saveDns,
  type CutoverRow,
} from './cutovers.sql.ts'

export type CutoverJobDeps = AuthoritativeDeps & {
  db: Kysely<DB>
  scheduler: Job
  syncJob: Job
  proofJob: Job<ProofData>
}

const DEADLINE_SECONDS = 300

/** The job of cut-overs: it checks those that are due, in one instance at a time. */
export function cutoverJob(deps: CutoverJobDeps): Job {
  return defineJob({
    name: 'migration.cutover',
    concurrency: 1,
    uniqueBy: () => 'all',
    schedule: '* * * * *',
    deadline: DEADLINE_SECONDS,
    async run(_data, { enqueue, inWorkspace, log, signal }) {
      for (let checked = 0; checked < CUTOVER_LIMITS.checksPerRun && !signal.aborted;) {
        const claimedAt = new Date()
        const due = await claimDueCutovers(deps.db, CUTOVER_LIMITS.checksAtOnce)
        if (due.length === 0) return
        checked += due.length
        await Promise.all(
          due.map(async (cutover) => {
            try {
              await inWorkspace(cutover.workspaceId, (own) =>
                checkCutover(cutover, deps, enqueue, own),
              )
            } catch (error) {
              if (!(error instanceof WorkspaceDeleted))
                log.warn({ err: error, cutoverId: cutover.id }, `a cut-over: ${messageOf(error)}`)
            }
            await releaseCutover(deps.db, cutover.id, claimedAt)
          }),
        )
      }
    },
  })
}

async function checkCutover(
  claimed: CutoverRow,
  deps: CutoverJobDeps,
  enqueue: Enqueue,
  signal: AbortSignal,
): Promise<void> {
  const { db } = deps
  const { id, batchId, workspaceId, domain } = claimed
  const observation = isDnsDue(claimed, await listSteps(db, id))
    ? await observeMx(
        domain,
        deps,
        AbortSignal.any([signal, AbortSignal.timeout(CUTOVER_LIMITS.dnsMs)]),
      )
    : null
  await countArrivals(db, claimed)
  // What was found until then may lack answers.
  signal.throwIfAborted()
  await db.transaction().execute(async (trx) => {
    // In the order of other changes of a batch.
    await lockScheduling(trx)
    const batch = await lockBatch(trx, workspaceId, batchId)
    const before = await lockCutover(trx, id)
    if (!before || !batch) return
    const isAbandoned = ageOf(before.createdAt) > CUTOVER_LIMITS.maxDays * DAY_SECONDS
    if (isAbandoned) return await endCutover(trx, id, 'cancelled')
    if (observation) await addDns(trx, before, observation)
    await advance(trx, id, { ...deps, enqueue })
    const now = (await lockCutover(trx, id)) ?? before
    const steps = await listSteps(trx, id)
    await raiseCutoverAlerts(trx, { before, now, steps, batch: batch.name })
    await notifyBatch(trx, workspaceId, batchId)
  })
}

async function addDns(db: Db, cutover: CutoverRow, observation: MxObservation): Promise<void> {
  const facts = addObservation(cutover, cutover, observation, new Date())
  await saveDns(db, cutover.id, observation, facts)
  if (facts.switchedAt) await markSwitched(db, cutover.id)
}

function isDnsDue({ dnsCheckedAt }: CutoverRow, steps: readonly StepRow[]): boolean {
  if (dnsCheckedAt === null) return true
  const open = openStepOf(steps)
  const isChanging = open?.step === 'ttl' || open?.step === 'switch'
  const isNew = ageOf(open?.openedAt ?? null) < CUTOVER_LIMITS.slowAfterSeconds
  const seconds = isChanging && isNew ? CUTOVER_LIMITS.dnsSeconds : CUTOVER_LIMITS.slowDnsSeconds
  // The job itself runs once a minute.
  return ageOf(dnsCheckedAt) >= seconds - 5
}

function ageOf(time: Date | null): number {
  return time === null ? 0 : (Date.now() - time.getTime()) / SECOND_MS
}
