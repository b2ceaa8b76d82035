import { Fault } from '../errors.ts'
import { notifyChange } from '../store/changes.ts'
import type { CreateDeps } from './create-process.ts'
import { insertRequest } from './requests/delisting-requests.sql.ts'
import { applyEvent, type StepChange } from './steps/change.ts'
import { findStep, type StepWithProcess, type StepRow } from './steps/delisting-steps.sql.ts'
import { MAX_ATTEMPTS } from './steps/timing.ts'
import { findOpenProcess, findProcess, lockWorkspace, updateCauseAndFix } from './delistings.sql.ts'
import { checkStepNow } from './delisting-scheduler.ts'

/** The actions of a user on a step. */
const ACTIONS = ['confirm', 'submitted', 'retry', 'cancel'] as const
export type Action = (typeof ACTIONS)[number]

export type CauseAndFix = {
  cause?: string | undefined
  fix?: string | undefined
  text?: string | undefined
}
export type StepAddress = { workspaceId: string; id: string; stepId: string }

/**
 * Performs a user’s action on a step.
 * @param words for `confirm`: cause and fix, unless the process has them, and the user’s own text
 * @throws Fault `not_found`, `conflict` when the step's state does not allow it, `invalid_request`
 */
export async function performAction(
  deps: CreateDeps,
  action: Action,
  addressed: StepAddress,
  words: CauseAndFix,
  signal: AbortSignal,
): Promise<void> {
  const found = await requireStep(deps, addressed)
  if (action === 'confirm') await confirm(deps, found, words)
  else if (action === 'retry') await retry(deps, found, signal)
  else if (action === 'submitted')
    await applyOrRefuse(deps, found.step, action, {
      event: { type: action },
      also: recordManualRequest(deps),
    })
  else await applyOrRefuse(deps, found.step, action, { event: { type: action } })
  // Without this, a step that is due now would wait for the next full minute.
  await deps.queue.enqueue(deps.db, deps.job, {})
}

/**
 * Changes cause and fix of a delisting in progress, which the texts for its lists quote. No email is
 * sent: each list that takes one is confirmed by itself.
 * @throws Fault `not_found`, `conflict` when the delisting has ended
 */
export async function explain(
  { db }: CreateDeps,
  { workspaceId, id }: Omit<StepAddress, 'stepId'>,
  words: Pick<CauseAndFix, 'cause' | 'fix'>,
): Promise<void> {
  const process = await findProcess(db, workspaceId, id)
  if (!process) throw new Fault('not_found', 'Delisting not found.')
  if (process.completedAt !== null)
    throw new Fault('conflict', 'This delisting has ended. Start a new one.')
  await db.transaction().execute(async (trx) => {
    await updateCauseAndFix(trx, id, words)
    await notifyChange(trx, workspaceId, 'delisting', id)
  })
}

async function requireStep(
  { db }: CreateDeps,
  { workspaceId, id, stepId }: StepAddress,
): Promise<StepWithProcess> {
  const process = await findProcess(db, workspaceId, id)
  const found = process && (await findStep(db, stepId))
  if (!found || found.process.id !== process.id)
    throw new Fault('not_found', 'Delisting step not found.')
  return found
}

async function applyOrRefuse(
  deps: CreateDeps,
  { id }: StepRow,
  action: Action,
  change: StepChange,
): Promise<void> {
  if (await applyEvent(deps, id, { ...change, quiet: true })) return
  throw refusal(action, (await findStep(deps.db, id))?.step)
}

async function confirm(
  deps: CreateDeps,
  { process, step }: StepWithProcess,
  { text, ...given }: CauseAndFix,
): Promise<void> {
  const cause = given.cause ?? process.cause
  const fix = given.fix ?? process.fix
  await applyOrRefuse(deps, step, 'confirm', {
    event: { type: 'confirm' },
    async also(db) {
      if (cause === null || fix === null) throw missingCauseOrFix(cause, fix)
      await updateCauseAndFix(db, process.id, { cause, fix })
      return { ownText: text ?? null }
    },
  })
}

function missingCauseOrFix(cause: string | null, fix: string | null): Fault {
  const missing = [...(cause === null ? ['cause'] : []), ...(fix === null ? ['fix'] : [])]
  const details = missing.map((path) => ({ path, message: 'is required' }))
  return new Fault(
    'invalid_request',
    `The request is not valid: ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} required.`,
    { details },
  )
}

/** A request that the user made starts the same cooldown as one that Portreeve sent. */
function recordManualRequest({ now }: CreateDeps): StepChange['also'] {
  return async (db, { process: { ip }, step: { id: stepId, attempt, zone } }) => {
    const request = { stepId, attempt, reminder: false, ip, zone, recipient: null, messageId: null }
    await insertRequest(db, { ...request, state: 'made', at: now() })
  }
}

/** Checks the list now. A failed step is restarted. */
async function retry(
  deps: CreateDeps,
  { process, step }: StepWithProcess,
  signal: AbortSignal,
): Promise<void> {
  await applyOrRefuse(deps, step, 'retry', {
    event: { type: 'retry' },
    async also(db) {
      await lockWorkspace(db, process.workspaceId)
      const open = await findOpenProcess(db, process.workspaceId, process.ip)
      if (open === undefined || open === process.id) return
      throw new Fault('conflict', `Another delisting of ${process.ip} is in progress: ${open}.`)
    },
  })
  await checkStepNow(deps, process, step, signal)
}

function refusal(action: Action, step: StepRow | undefined): Fault {
  const { status = 'gone', method = '', attempt = 0 } = step ?? {}
  if (action === 'retry' && status === 'failed' && attempt >= MAX_ATTEMPTS) {
    return new Fault(
      'conflict',
      `This step was tried ${MAX_ATTEMPTS} times. Start a new delisting when something has changed.`,
    )
  }
  return new Fault(
    'conflict',
    `${RULES[action]} This step has the method ${method} and the status ${status}.`,
  )
}

const RULES: Record<Action, string> = {
  confirm:
    'Only a step with the method email or form can be confirmed, before the request is made.',
  submitted: 'Only a started step with the method email or form can be marked as submitted, once.',
  retry: 'Only a waiting or failed step can be retried.',
  cancel: 'Only a step that has not ended can be cancelled.',
}
