import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { refreshProcess, type ProcessRow } from '../store.ts'
import { tellEnd, type TellDeps } from '../tell.ts'
import { storyOf } from '../words.ts'
import { isFinal, transition, type StepEvent } from './machine.ts'
import type { Answer } from './plan.ts'
import { insertEvent, lockStep, updateStep, type Found, type StepRow } from './store.ts'

export type Change = {
  event: StepEvent
  /** Only while it is this attempt. */
  attempt?: number
  /** More about it, for the history. */
  note?: string
  /** What the list answered, where the event came of that. */
  answer?: Answer
  /** Nobody is told when the process ends: the person looks on. */
  quiet?: boolean
  /** Further work of the same transaction, done before the step is changed. */
  also?: (db: Db, found: Found) => Promise<Partial<Pick<StepRow, 'ownText'>> | void>
}

/**
 * Lets an event happen to a step: alone, whole, or not at all.
 * @returns the step as it is then; null when its state does not allow the event, or it is gone
 */
export async function changeStep(deps: TellDeps, stepId: string, change: Change): Promise<StepRow | null> {
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
    // The state alone: what else the row holds was not changed.
    const letGo = change.event.type === 'answered' || isFinal(step)
    await updateStep(trx, stepId, { ...state, ...words }, { lastAnswer: change.answer, letGo })
    const text = [storyOf(found.step, state, change.event, change.answer), change.note].filter(Boolean).join(' ')
    if (text !== '') await insertEvent(trx, { stepId, at: deps.now(), text })
    await refresh(trx, deps, found.process, change.quiet === true)
    await notifyChange(trx, found.process.accountId, 'delisting', found.process.id)
    return step
  })
}

async function refresh(db: Db, deps: TellDeps, process: ProcessRow, quiet: boolean): Promise<void> {
  const status = await refreshProcess(db, process.id, deps.now())
  if (quiet || (status !== 'completed' && status !== 'failed')) return
  await tellEnd(db, deps, { ...process, status })
}
