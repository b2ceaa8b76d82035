import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { refreshProcessStatus, type ProcessRow } from '../delistings.sql.ts'
import { notifyEnd, type NotifyDeps } from '../notify.ts'
import { describeEvent } from '../messages.ts'
import { isFinal, transition, type StepEvent } from './state-machine.ts'
import type { Answer } from './plan-steps.ts'
import {
  insertEvent,
  lockStep,
  updateStep,
  type StepWithProcess,
  type StepRow,
} from './delisting-steps.sql.ts'

export type StepChange = {
  event: StepEvent
  /** Applied only to this attempt. */
  attempt?: number
  /** More about it, for the history. */
  note?: string
  /** The answer of the blocklist, where it caused the event. */
  answer?: Answer
  /** No alert is raised when the process ends while the person watches the screen. */
  quiet?: boolean
  /** Further work of the same transaction, done before the step is changed. */
  also?: (db: Db, found: StepWithProcess) => Promise<Partial<Pick<StepRow, 'ownText'>> | void>
}

/**
 * Applies an event to a step, in a transaction with its consequences.
 * @returns the step after it; null when its state does not allow the event, or it was deleted
 */
export async function applyEvent(
  deps: NotifyDeps,
  stepId: string,
  change: StepChange,
): Promise<StepRow | null> {
  return deps.db.transaction().execute(async (trx) => {
    const found = await lockStep(trx, stepId)
    if (!found || found.step.attempt !== (change.attempt ?? found.step.attempt)) return null
    const state = transition(found.step, change.event, deps.now())
    if (!state) return null
    const words = await change.also?.(trx, found)
    const step: StepRow = {
      ...found.step,
      ...state,
      plan: found.step.plan,
      ...words,
      lastAnswer: change.answer ?? found.step.lastAnswer,
    }
    // Returns the state alone; the other fields of the row are unchanged.
    const letGo = change.event.type === 'answered' || isFinal(step)
    await updateStep(trx, stepId, { ...state, ...words }, { lastAnswer: change.answer, letGo })
    const text = [describeEvent(found.step, state, change.event, change.answer), change.note]
      .filter(Boolean)
      .join(' ')
    if (text !== '') await insertEvent(trx, { stepId, at: deps.now(), text })
    await updateProcess(trx, deps, found.process, change.quiet === true)
    await notifyChange(trx, found.process.workspaceId, 'delisting', found.process.id)
    return step
  })
}

async function updateProcess(
  db: Db,
  deps: NotifyDeps,
  process: ProcessRow,
  quiet: boolean,
): Promise<void> {
  const status = await refreshProcessStatus(db, process.id, deps.now())
  if (quiet || (status !== 'completed' && status !== 'failed')) return
  await notifyEnd(db, deps, { ...process, status })
}
