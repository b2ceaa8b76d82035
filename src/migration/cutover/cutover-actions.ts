import type { Kysely, Transaction } from 'kysely'
import { Fault, invalidField } from '../../errors.ts'
import type { Job } from '../../jobs/job.ts'
import type { Queue } from '../../jobs/queue.ts'
import { parseHost } from '../../net/address.ts'
import type { DB } from '../../store/tables.ts'
import { resetRejections } from '../batches/batch-hosts.sql.ts'
import { queueMailboxes } from '../batches/batch-progress.sql.ts'
import { changeBatch, type BatchDeps, type BatchName } from '../batches/batch-actions.ts'
import { setSyncOf } from '../batches/sync.ts'
import type { ProofData } from '../proof/proof-job.ts'
import { afterStep, advance } from './advance.ts'
import { DEFAULT_QUIET_HOURS, DEFAULT_SYNC_MINUTES, DEFAULT_TTL } from './limits.ts'
import { makePassesDue } from './cutover-mailboxes.sql.ts'
import { wakeCutover } from './wake.ts'
import type { NewCutover, CutoverConfirmation } from './shapes.ts'
import { openStepOf, type StepName } from './steps.ts'
import {
  closeStep,
  endCutover,
  findCutover,
  insertCutover,
  listSteps,
  lockCutover,
  startFinalPass,
  type CutoverRow,
} from './cutovers.sql.ts'

export type CutoverDeps = BatchDeps & {
  db: Kysely<DB>
  queue: Queue
  proofJob: Job<ProofData>
  cutoverJob: Job
}

/** Who acts: recorded with what a person confirms. */
export type Person = { accountId: string; name: string }

/**
 * Begins the cut-over of a domain. A batch that is not synchronized is from now on.
 * @throws Fault `invalid_request`, `not_found`, `conflict` while another one is open
 */
export async function createCutover(
  deps: CutoverDeps,
  name: BatchName,
  request: NewCutover,
  person: Person,
): Promise<void> {
  const domain = nameOf(request.domain, 'domain')
  const expectedMx = [...new Set(request.mx.map((host, index) => nameOf(host, `mx.${index}`)))]
  const { ttl = DEFAULT_TTL, quietHours = DEFAULT_QUIET_HOURS, proofLevel = 'headers' } = request
  await changeBatch(deps, name, async (trx, batch) => {
    const before = await findCutover(trx, name.id)
    if (before?.endedAt === null)
      throw new Fault('conflict', `The cut-over of ${before.domain} is open. Cancel it first.`)
    await insertCutover(trx, {
      batchId: name.id,
      workspaceId: name.workspaceId,
      domain,
      expectedMx,
      targetTtl: ttl,
      quietHours,
      proofLevel,
      createdBy: person.accountId,
    })
    if (batch.syncMinutes === null)
      await setSyncOf(trx, name, { everyMinutes: DEFAULT_SYNC_MINUTES }, deps)
    await deps.queue.enqueue(trx, deps.cutoverJob, {})
  })
}

/** A host name, in lower case and without a trailing dot. @throws Fault `invalid_request` */
function nameOf(text: string, path: string): string {
  const host = parseHost(text, path)
  if (host.kind === 'name') return host.name.toLowerCase()
  const message = 'must be a host name'
  throw invalidField(path, message)
}

/**
 * Closes the open step because a person says that it is done or left out.
 * @throws Fault `not_found`, `conflict` when another step is open
 */
export async function confirmStep(
  deps: CutoverDeps,
  name: BatchName,
  step: StepName,
  { outcome = 'confirmed', note }: CutoverConfirmation,
  { accountId, name: person }: Person,
): Promise<void> {
  await changeCutover(deps, name, async (trx, cutover) => {
    await requireOpen(trx, cutover, step)
    await closeStep(trx, cutover.id, step, { outcome, note, accountId, person })
    const advancing = { ...deps, enqueue: deps.queue.enqueue }
    await afterStep(trx, cutover, step, advancing)
    await advance(trx, cutover.id, advancing)
  })
}

/**
 * Queues a pass of every mailbox.
 * @throws Fault `not_found`, `conflict` before the old inboxes are quiet, or while it is paused
 */
export async function startFinal(deps: CutoverDeps, name: BatchName): Promise<void> {
  await changeCutover(deps, name, async (trx, cutover, { pausedAt }) => {
    await requireOpen(trx, cutover, 'final_pass')
    if (pausedAt) throw new Fault('conflict', 'The batch is paused. Resume it first.')
    if (cutover.finalStartedAt) throw new Fault('conflict', 'The final pass was started already.')
    await startFinalPass(trx, cutover.id)
    await resetRejections(trx, name.id)
    await queueMailboxes(trx, name.id, ['ready', 'in_sync', 'needs_attention'], 'sync')
  })
}

/**
 * Has the cut-over checked at once, and the old mailboxes once new mail should no longer arrive there.
 * @throws Fault `not_found`
 */
export async function checkNow(deps: CutoverDeps, name: BatchName): Promise<void> {
  const { queue, syncJob } = deps
  await changeCutover(deps, name, async (trx, cutover) => {
    if (cutover.switchedAt && (await makePassesDue(trx, cutover, new Date())))
      await queue.enqueue(trx, syncJob, {})
  })
}

/** Ends a cut-over without finishing it. The batch stays as it is. */
export async function cancelCutover(deps: CutoverDeps, name: BatchName): Promise<void> {
  await changeCutover(deps, name, async (trx, { id }) => endCutover(trx, id, 'cancelled'))
}

async function changeCutover(
  deps: CutoverDeps,
  name: BatchName,
  work: (
    trx: Transaction<DB>,
    cutover: CutoverRow,
    batch: { pausedAt: Date | null },
  ) => Promise<void>,
): Promise<void> {
  await changeBatch(deps, name, async (trx, batch) => {
    const found = await findCutover(trx, name.id)
    const cutover = found && (await lockCutover(trx, found.id))
    if (!cutover) throw new Fault('not_found', 'This batch has no open cut-over.')
    await work(trx, cutover, batch)
    const { queue, cutoverJob: job } = deps
    await wakeCutover(trx, name.id, { enqueue: queue.enqueue, job, withDns: true })
  })
}

async function requireOpen(
  trx: Transaction<DB>,
  { id }: CutoverRow,
  step: StepName,
): Promise<void> {
  const open = openStepOf(await listSteps(trx, id))
  if (open?.step !== step)
    throw new Fault('conflict', `This step is not open. The open step is ${open?.step ?? 'none'}.`)
}
