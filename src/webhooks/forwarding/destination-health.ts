import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { HOUR_MS } from '../../time.ts'
import { moveDeliveries } from './deliveries.sql.ts'
import { alertFailing, alertOff, alertRecovered } from './destination-alerts.ts'
import { updateClaimed, type ClaimedDestination } from './destinations.sql.ts'
import { evaluateFailing } from './evaluate-attempt.ts'

/** Milliseconds between two writes that a destination works. */
const SUCCESS_WRITE_MS = 10_000

/**
 * Records that a destination works, and ends the alert about it.
 * @param closesBreaker so that it is written in any case
 */
export async function recordSuccess(
  db: Kysely<DB>,
  destination: ClaimedDestination,
  closesBreaker: boolean,
): Promise<void> {
  const { failingSince, lastSuccessAt, alertedHours } = destination
  const now = new Date()
  const isKnown = failingSince === null && Number(lastSuccessAt) > now.getTime() - SUCCESS_WRITE_MS
  if (isKnown && !closesBreaker) return
  destination.lastSuccessAt = now
  destination.failingSince = null
  destination.alertedHours = 0
  await db.transaction().execute(async (trx) => {
    const { breakerLevel } = destination
    const isOurs = await updateClaimed(trx, destination, {
      lastSuccessAt: now,
      failingSince: null,
      alertedHours: 0,
      lastError: null,
      breakerLevel,
    })
    if (isOurs && failingSince !== null && alertedHours > 0)
      await alertRecovered(trx, destination, failingSince)
  })
}

/**
 * Records that an attempt failed: alerts after an hour, then again, and turns the destination off
 * after days without a success.
 * @returns whether it is off
 */
export async function recordFailing(
  db: Kysely<DB>,
  destination: ClaimedDestination,
  error: string,
  now: number,
): Promise<boolean> {
  const failingSince = (destination.failingSince ??= new Date(now))
  const step = evaluateFailing(failingSince, destination.alertedHours, now)
  const { breakerLevel, dueAt } = destination
  if (step?.isOff) {
    const days = Math.floor((now - failingSince.getTime()) / (24 * HOUR_MS))
    await turnOff(db, destination, `Every attempt of ${days} days failed. The last one: ${error}`)
    return true
  }
  if (step) destination.alertedHours = step.alertedHours
  await db.transaction().execute(async (trx) => {
    const values = { failingSince, lastError: error, breakerLevel, dueAt }
    const isOurs = await updateClaimed(trx, destination, {
      ...values,
      alertedHours: destination.alertedHours,
    })
    if (isOurs && step) await alertFailing(trx, destination, failingSince, error)
  })
  return false
}

/** Turns a destination off. What waits is held, until it is resumed. */
export async function turnOff(
  db: Kysely<DB>,
  destination: ClaimedDestination,
  reason: string,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    if (!(await updateClaimed(trx, destination, { state: 'off', reason }))) return
    await moveDeliveries(trx, destination.id, ['waiting'], 'held')
    await alertOff(trx, destination, reason)
  })
}
