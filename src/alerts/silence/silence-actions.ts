import { Fault } from '../../errors.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { notify } from '../../store/notifications.ts'
import { HANDLING_TYPES } from '../channels/channel-types.ts'
import { findIncident } from '../incidents.sql.ts'
import { ALERT_RAISED } from '../raise.ts'
import { sendHeldBack } from './snoozes/end-snooze.ts'
import { MAX_MUTES_PER_WORKSPACE } from './limits.ts'
import { saveMute, type MuteRow, type MuteToInsert } from './mutes.sql.ts'
import { acknowledge, snooze, unacknowledge, type Actor } from './alert-silence.sql.ts'
import { endSnoozeOf } from './snoozes/snoozes.sql.ts'
import { holdBackIncident, holdBackMuted, holdBackUpdates } from './held-back.sql.ts'
import { queueHandling } from './handling/handling.sql.ts'

/** An incident of a workspace. */
export type IncidentRef = { workspaceId: string; id: string }

/**
 * Acknowledges an incident: updates about it are no longer sent, its end is. Does nothing where it is
 * acknowledged already.
 * @throws Fault `not_found`, `conflict` where it has ended
 */
export async function acknowledgeIncident(
  db: Db,
  { workspaceId, id }: IncidentRef,
  actor: Actor,
): Promise<void> {
  await changeIncident(db, { workspaceId, id }, async (trx) => {
    if (!(await acknowledge(trx, workspaceId, id, actor))) return
    await holdBackUpdates(trx, workspaceId, id)
    await queueHandling(trx, workspaceId, id, HANDLING_TYPES)
  })
}

/** Takes an acknowledgement back. @throws as `acknowledgeIncident` */
export async function unacknowledgeIncident(
  db: Db,
  { workspaceId, id }: IncidentRef,
): Promise<void> {
  await changeIncident(db, { workspaceId, id }, async (trx) => {
    if (await unacknowledge(trx, workspaceId, id))
      await queueHandling(trx, workspaceId, id, HANDLING_TYPES)
  })
}

/** Snoozes an incident: nothing about it is sent before `until`. @throws as `acknowledgeIncident` */
export async function snoozeIncident(
  db: Db,
  { workspaceId, id }: IncidentRef,
  actor: Actor & { until: Date },
): Promise<void> {
  await changeIncident(db, { workspaceId, id }, async (trx) => {
    if (!(await snooze(trx, workspaceId, id, actor))) return
    await holdBackIncident(trx, workspaceId, id)
    await queueHandling(trx, workspaceId, id, HANDLING_TYPES)
  })
}

/** Ends a snooze and sends what was held back. @throws as `acknowledgeIncident` */
export async function unsnoozeIncident(db: Db, { workspaceId, id }: IncidentRef): Promise<void> {
  await changeIncident(db, { workspaceId, id }, async (trx) => {
    const ended = await endSnoozeOf(trx, workspaceId, id)
    if (!ended) return
    await sendHeldBack(trx, ended, { isReminder: false })
    await queueHandling(trx, workspaceId, id, HANDLING_TYPES)
  })
}

async function changeIncident(
  db: Db,
  { workspaceId, id }: IncidentRef,
  change: (trx: Db) => Promise<void>,
): Promise<void> {
  await inTransaction(db, async (trx) => {
    const incident = await findIncident(trx, workspaceId, id)
    if (!incident) throw new Fault('not_found', 'Incident not found.')
    if (incident.resolvedAt !== null)
      throw new Fault('conflict', 'This incident has already ended.')
    await change(trx)
    await notify(trx, ALERT_RAISED, workspaceId)
    await notifyChange(trx, workspaceId, 'alerts', id)
  })
}

/**
 * Mutes alerts: they are recorded and not sent, also those that wait to be sent. Replaces the mute
 * of the same object and kind.
 * @throws Fault `conflict` where the workspace has too many
 */
export async function muteAlerts(db: Db, mute: MuteToInsert): Promise<MuteRow> {
  return inTransaction(db, async (trx) => {
    const { workspaceId } = mute
    const row = await saveMute(trx, mute, MAX_MUTES_PER_WORKSPACE)
    if (!row)
      throw new Fault(
        'conflict',
        `A workspace can have up to ${MAX_MUTES_PER_WORKSPACE} mutes. Delete one first.`,
      )
    await holdBackMuted(trx, workspaceId, row.id)
    await notifyChange(trx, workspaceId, 'alerts', row.id)
    return row
  })
}

/** Within the caller’s transaction where there is one. */
function inTransaction<T>(db: Db, work: (trx: Db) => Promise<T>): Promise<T> {
  return db.isTransaction ? work(db) : db.transaction().execute(work)
}
