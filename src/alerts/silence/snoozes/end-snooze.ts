import type { Kysely } from 'kysely'
import { notifyChange } from '../../../store/changes.ts'
import type { Db } from '../../../store/database.ts'
import { notify } from '../../../store/notifications.ts'
import type { DB } from '../../../store/tables.ts'
import { BATCHED_TYPES, PAGING_TYPES } from '../../channels/channel-types.ts'
import { queueAlert } from '../../delivery/queued-messages.sql.ts'
import { ALERT_RAISED } from '../../raise.ts'
import { findRouteOfIncident } from '../../rules/alert-rules.sql.ts'
import { assignIncident, insertAlert } from '../../alerts.sql.ts'
import { stillOpen } from '../messages.ts'
import {
  countAlertOf,
  endOverdueSnooze,
  hasOverdueSnooze,
  type EndedSnooze,
} from './snoozes.sql.ts'
import { listHeldBack, releaseHeldBack, type HeldBackAlert } from '../held-back.sql.ts'

/**
 * Ends the snoozes that are over. Of each incident that is still open, one message says so and
 * lists what was held back. Any number of instances share the work.
 */
export async function endOverdueSnoozes(db: Kysely<DB>): Promise<void> {
  if (!(await hasOverdueSnooze(db))) return
  for (;;) {
    const isEnded = await db.transaction().execute(async (trx) => {
      const snooze = await endOverdueSnooze(trx)
      if (snooze) await sendHeldBack(trx, snooze, { isReminder: true })
      return snooze !== undefined
    })
    if (!isEnded) return
  }
}

/**
 * Sends what a snooze held back, as one message.
 * @param isReminder whether it is sent also where nothing was held back
 */
export async function sendHeldBack(
  trx: Db,
  snooze: EndedSnooze,
  { isReminder }: { isReminder: boolean },
): Promise<void> {
  const held = await listHeldBack(trx, snooze.id)
  const ids = held.map(({ id }) => id)
  if (!snooze.isOpen) await sendEnd(trx, snooze, held)
  else if (snooze.isMuted) await releaseHeldBack(trx, ids, 'muted')
  else if (snooze.isAcknowledged) await releaseHeldBack(trx, ids, 'acknowledged')
  else {
    await releaseHeldBack(trx, ids, 'summarised')
    if (isReminder || held.length > 0) await raiseStillOpen(trx, snooze, held)
  }
  await notify(trx, ALERT_RAISED, snooze.workspaceId)
  await notifyChange(trx, snooze.workspaceId, 'alerts', snooze.id)
}

/** The end goes where the beginning went; paging services got it at once. */
async function sendEnd(trx: Db, snooze: EndedSnooze, held: HeldBackAlert[]): Promise<void> {
  const { id: incidentId, workspaceId } = snooze
  const end = held.findLast(({ phase }) => phase === 'resolved')
  if (!end) return
  if (snooze.isMuted) return releaseHeldBack(trx, [end.id], 'muted')
  await releaseHeldBack(trx, [end.id], null)
  await queueAlert(
    trx,
    {
      workspaceId,
      incidentId,
      kind: end.kind,
      severity: 'info',
      phase: 'resolved',
      types: { except: PAGING_TYPES },
    },
    end.id,
    BATCHED_TYPES,
  )
}

async function raiseStillOpen(trx: Db, snooze: EndedSnooze, held: HeldBackAlert[]): Promise<void> {
  const { id: incidentId, workspaceId, kind, severity, path, snoozedUntil } = snooze
  const phase = 'update'
  const alertId = await insertAlert(trx, {
    workspaceId,
    kind,
    key: `snooze-ended ${incidentId} ${snoozedUntil.toISOString()} ${Date.now()}`,
    phase,
    severity,
    ...stillOpen(
      snooze,
      held.map(({ title }) => title),
    ),
    nextStep: '',
    path,
    at: new Date(),
  })
  if (alertId === null) return
  await assignIncident(trx, alertId, { id: incidentId, phase })
  await countAlertOf(trx, incidentId)
  const route = (await findRouteOfIncident(trx, incidentId)) ?? undefined
  const alert = { workspaceId, kind, severity, phase, incidentId } as const
  await queueAlert(trx, alert, alertId, BATCHED_TYPES, route)
}
