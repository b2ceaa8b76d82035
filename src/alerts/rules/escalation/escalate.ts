import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { Logger } from '../../../log.ts'
import { notifyChange } from '../../../store/changes.ts'
import type { Db } from '../../../store/database.ts'
import { notify } from '../../../store/notifications.ts'
import type { DB } from '../../../store/tables.ts'
import { MINUTE_MS } from '../../../time.ts'
import { BATCHED_TYPES } from '../../channels/channel-types.ts'
import { queueEscalation } from '../../delivery/queued-messages.sql.ts'
import { ALERT_RAISED } from '../../raise.ts'
import { ESCALATION_BATCH, ESCALATION_POLL_MS } from '../limits.ts'
import { ruleQuietEnd } from '../quiet.ts'
import type { Escalation } from '../rule.ts'
import {
  claimEscalation,
  listDueEscalations,
  scheduleEscalation,
  type DueEscalation,
} from './escalation.sql.ts'

export type EscalationDeps = {
  db: Kysely<DB>
  log: Logger
  /** Milliseconds since 1970, for quiet hours. */
  clock: () => number
}

/**
 * Takes the due steps of unacknowledged incidents; any number of instances share the
 * work. A step and its messages commit together, so that it is taken once, also after a crash.
 * @returns the number of incidents that this instance has processed
 */
export async function escalateDue(
  { db, clock }: EscalationDeps,
  stop: AbortSignal,
): Promise<number> {
  const ids = await listDueEscalations(db, ESCALATION_BATCH)
  let count = 0
  for (const id of ids) {
    if (stop.aborted) break
    await db.transaction().execute(async (trx) => {
      const due = await claimEscalation(trx, id)
      if (!due) return
      await takeStep(trx, due, new Date(clock()))
      count++
    })
  }
  return count
}

async function takeStep(db: Db, due: DueEscalation, now: Date): Promise<void> {
  const { id, step } = due
  const next = decideStep(due, now)
  // An acknowledgement that is taken back lets the next alert start again.
  if (next.kind === 'end')
    return scheduleEscalation(db, id, { step: due.isOver ? 0 : step, at: null })
  if (next.kind === 'wait') return scheduleEscalation(db, id, { step, at: next.until })
  const { channels, following } = next
  const minutes = Math.max(1, Math.round((Date.now() - due.openedAt.getTime()) / MINUTE_MS))
  const { workspaceId, severity, alertId } = due
  const alert = { workspaceId, severity: severity ?? 'warning', alertId: alertId ?? '', minutes }
  const count = await queueEscalation(db, alert, channels, BATCHED_TYPES)
  // Where no channel of a step can receive alerts, the next one does not wait.
  const delay = count === 0 ? 0 : (following ?? 0)
  const at = following === null ? null : new Date(Date.now() + delay * MINUTE_MS)
  await scheduleEscalation(db, id, { step: step + 1, at })
  await notify(db, ALERT_RAISED, workspaceId)
  await notifyChange(db, workspaceId, 'alerts', id)
}

export type NextStep =
  | { kind: 'end' }
  | { kind: 'wait'; until: Date }
  /** `following`: minutes until the step after it; null after the last one. */
  | { kind: 'send'; channels: string[]; following: number | null }

/**
 * What happens when a step is due: nothing more where the incident is acknowledged or resolved, or
 * its rule no longer escalates; the step waits while the incident is snoozed or the rule has quiet
 * hours, and then for its own time again.
 */
export function decideStep(due: Omit<DueEscalation, 'id' | 'workspaceId'>, now: Date): NextStep {
  const { escalation, quietHours, step, snoozedUntil } = due
  if (due.isOver || !due.enabled || escalation === null || due.alertId === null)
    return { kind: 'end' }
  const current = stepAt(escalation, step)
  if (!current) return { kind: 'end' }
  const passes = due.criticalAnytime === true && due.severity === 'critical'
  const pause = snoozedUntil ?? (quietHours && !passes ? ruleQuietEnd(quietHours, now) : null)
  if (pause) {
    return { kind: 'wait', until: new Date(pause.getTime() + current.afterMinutes * MINUTE_MS) }
  }
  const following = stepAt(escalation, step + 1)?.afterMinutes ?? null
  return { kind: 'send', channels: current.channels, following }
}

/** The step of this number, counted through all repeats; undefined after the last one. */
function stepAt({ steps, repeats }: Escalation, number: number) {
  return number < steps.length * (1 + repeats) ? steps[number % steps.length] : undefined
}

/**
 * Escalates in the background.
 * @returns stops it, after the transaction that runs
 */
export function startEscalating(deps: EscalationDeps): () => Promise<void> {
  const stopping = new AbortController()
  const { signal } = stopping
  async function run(): Promise<void> {
    while (!signal.aborted) {
      const count = await escalateDue(deps, signal).catch((error: unknown) => {
        deps.log.warn({ err: error }, 'due escalations could not be processed')
        return 0
      })
      if (count === 0) await pauseFor(ESCALATION_POLL_MS, signal)
    }
  }
  const running = run()
  return async () => {
    stopping.abort()
    await running
  }
}

/** Resolves after a time, or when it is stopped. */
function pauseFor(milliseconds: number, signal: AbortSignal): Promise<void> {
  return sleep(milliseconds, undefined, { signal }).catch(() => {})
}
