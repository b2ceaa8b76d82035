import { notifyChange } from '../store/changes.ts'
import type { Db } from '../store/database.ts'
import { notify } from '../store/notifications.ts'
import { BATCHED_TYPES, PAGING_TYPES } from './channels/channel-types.ts'
import { insertFirstChannel } from './channels/alert-channels.sql.ts'
import { queueAlert } from './delivery/queued-messages.sql.ts'
import { openIncident, resolveIncident, isIncidentOpen } from './incidents.sql.ts'
import { routeAlert } from './rules/route-alert.ts'
import type { Phase, Severity } from './severity.ts'
import { silenceAlert } from './silence/silence-alert.ts'
import { lockIncident } from './silence/alert-silence.sql.ts'
import { assignIncident, insertAlert } from './alerts.sql.ts'

/** An event that a workspace is alerted about once. */
export type NewAlert = {
  workspaceId: string
  /** Machine-readable kind for filters: a topic, a dot and a word (`blacklist.listed`). */
  kind: string
  /** Identifies the event: a workspace gets one alert per key, ever. */
  key: string
  /**
   * Names the problem, such as `blacklist/8.8.4.4/zone`: alerts with the same name belong to one
   * incident. Null for an event that never ends.
   */
  incident: string | null
  /**
   * Whether the incident begins, changes or ends. One that begins again while it is open changes, and
   * one that changes without being open begins.
   */
  phase: Phase
  /** How urgent it is; an alert that resolves an incident is `info`. */
  severity: Severity
  /** One line; also the subject of an email with this alert alone. */
  title: string
  /** What happened and why. */
  text: string
  /** What to do now; empty when no action is needed. */
  nextStep: string
  /**
   * Page of the dashboard, from its root, such as `/delisting/ID`. Only lower-case words, IDs and
   * names of watched domains, so that no text chosen by a stranger gets into a link; a constraint of
   * the database enforces this.
   */
  path: string
  /**
   * Names of the object that it is about, such as a host and its address: rules compare them, and
   * know its labels by them.
   */
  objects?: readonly string[]
  /** Time of the event. */
  at: Date
}

/** The alert that ends an incident. */
export type ResolvingAlert = Omit<NewAlert, 'phase' | 'severity'> & { incident: string }

/** Notification that a message waits to be sent. */
export const ALERT_RAISED = 'alert.raised'

/**
 * Raises an alert on all channels of a workspace. Within the caller’s transaction it is sent if and
 * only if that commits, even when this process is killed right after.
 * @returns false when an alert with this key was raised before
 */
export async function raiseAlert(db: Db, alert: NewAlert): Promise<boolean> {
  if (!db.isTransaction) return db.transaction().execute((trx) => raiseAlert(trx, alert))
  const id = await insertAlert(db, alert)
  if (id === null) return false
  const { incident } = alert
  const hasIncident = incident !== null && alert.phase !== 'once'
  const before = hasIncident ? await lockIncident(db, alert.workspaceId, incident) : undefined
  const recorded = hasIncident
    ? await recordIncident(db, { ...alert, incident })
    : { id: null, phase: alert.phase }
  await assignIncident(db, id, recorded)
  await insertFirstChannel(db, alert.workspaceId)
  const { id: incidentId, phase } = recorded
  const silence = await silenceAlert(db, alert, { alertId: id, incidentId }, before)
  const queued = { ...alert, phase, incidentId }
  // The rule is recorded for the end of a snooze, too.
  const route = silence === 'muted' ? undefined : await routeAlert(db, alert, recorded)
  if (silence === null) await queueAlert(db, queued, id, BATCHED_TYPES, route)
  // A paging service would show the incident as open for ever.
  else if (phase === 'resolved')
    await queueAlert(db, { ...queued, types: { only: PAGING_TYPES } }, id, BATCHED_TYPES)
  await notify(db, ALERT_RAISED, alert.workspaceId)
  await notifyChange(db, alert.workspaceId, 'alerts', id)
  return true
}

/** Raises an alert that resolves an incident, only where that is open. */
export async function raiseResolved(db: Db, alert: ResolvingAlert): Promise<boolean> {
  if (!(await isIncidentOpen(db, alert.workspaceId, alert.incident))) return false
  return raiseAlert(db, { ...alert, phase: 'resolved', severity: 'info' })
}

/** An end without an open incident stays an end: it began before incidents were recorded. */
async function recordIncident(
  db: Db,
  alert: NewAlert & { incident: string },
): Promise<{ id: string | null; phase: Phase }> {
  return alert.phase === 'resolved'
    ? { id: await resolveIncident(db, alert), phase: 'resolved' }
    : openIncident(db, alert)
}
