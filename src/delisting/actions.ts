import { Fault } from '../errors.ts'
import type { CreateDeps } from './create-process.ts'
import { insertRequest } from './requests/store.ts'
import { applyEvent, type Change } from './steps/change.ts'
import { findStep, type StepWithProcess, type StepRow } from './steps/store.ts'
import { MAX_ATTEMPTS } from './steps/timing.ts'
import { findOpenProcess, findProcess, lockAccount, updateCauseAndFix } from './store.ts'
import { checkStepNow } from './scheduler.ts'

/** What a person does to a step. */
export const ACTIONS = ['confirm', 'submitted', 'retry', 'cancel'] as const
export type Action = (typeof ACTIONS)[number]

export type CauseAndFix = { cause?: string | undefined; fix?: string | undefined; text?: string | undefined }
export type StepAddress = { accountId: string; id: string; stepId: string }

/**
 * Does to a step what its owner wants.
 * @param words for `confirm`: cause and fix, unless the process has them, and the owner's own text
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
    await applyOrRefuse(deps, found.step, action, { event: { type: action }, also: recordManualRequest(deps) })
  else await applyOrRefuse(deps, found.step, action, { event: { type: action } })
  // What is due now is done now, and not at the next full minute.
  await deps.queue.enqueue(deps.db, deps.job, {})
}

async function requireStep({ db }: CreateDeps, { accountId, id, stepId }: StepAddress): Promise<StepWithProcess> {
  const process = await findProcess(db, accountId, id)
  const found = process && (await findStep(db, stepId))
  if (!found || found.process.id !== process.id) throw new Fault('not_found', 'There is no such step.')
  return found
}

async function applyOrRefuse(deps: CreateDeps, { id }: StepRow, action: Action, change: Change): Promise<void> {
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
  return new Fault('invalid_request', `The request is not valid: ${missing.join(' and ')} must be said.`, { details })
}

/** What a person has asked a list counts like what we have. */
function recordManualRequest({ now }: CreateDeps): Change['also'] {
  return async (db, { process: { ip }, step: { id: stepId, attempt, zone } }) => {
    const request = { stepId, attempt, reminder: false, ip, zone, recipient: null, messageId: null }
    await insertRequest(db, { ...request, state: 'made', at: now() })
  }
}

/** Asks the list now; a step that had failed begins anew. */
async function retry(deps: CreateDeps, { process, step }: StepWithProcess, signal: AbortSignal): Promise<void> {
  await applyOrRefuse(deps, step, 'retry', {
    event: { type: 'retry' },
    async also(db) {
      await lockAccount(db, process.accountId)
      const open = await findOpenProcess(db, process.accountId, process.ip)
      if (open === undefined || open === process.id) return
      throw new Fault('conflict', `The delisting of ${process.ip} goes on in another process: ${open}.`)
    },
  })
  await checkStepNow(deps, process, step, signal)
}

function refusal(action: Action, step: StepRow | undefined): Fault {
  const { status = 'gone', method = '', attempt = 0 } = step ?? {}
  if (action === 'retry' && status === 'failed' && attempt >= MAX_ATTEMPTS) {
    return new Fault(
      'conflict',
      `This step was tried ${MAX_ATTEMPTS} times. Begin a new process when something has changed.`,
    )
  }
  return new Fault('conflict', `${RULES[action]} This one has the method ${method} and is ${status}.`)
}

const RULES: Record<Action, string> = {
  confirm: 'Cause and fix are said for a list that has to be asked, before it was.',
  submitted: 'A form or a mail is marked as submitted once, after the step has begun.',
  retry: 'Only a step that waits for its list, or has failed, is retried.',
  cancel: 'Only a step that has not ended is cancelled.',
}
