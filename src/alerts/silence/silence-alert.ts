import type { Db } from '../../store/database.ts'
import { HANDLING_TYPES } from '../channels/channel-types.ts'
import type { Phase, Severity } from '../severity.ts'
import { isMuted, type MutableAlert } from './mutes.sql.ts'
import {
  markSilenced,
  unacknowledge,
  type IncidentBefore,
  type Silence,
} from './alert-silence.sql.ts'
import { queueHandling } from './handling/handling.sql.ts'

type SilenceableAlert = MutableAlert & { phase: Phase; severity: Severity }

/**
 * Decides whether a new alert is only recorded, and records why. An incident that becomes critical
 * loses its acknowledgement: someone acknowledged something less urgent.
 * @param alertId of the inserted alert
 * @param before the open incident before this alert; undefined where the alert opens one or has none
 * @returns null where the alert is sent
 */
export async function silenceAlert(
  db: Db,
  alert: SilenceableAlert,
  { alertId, incidentId }: { alertId: string; incidentId: string | null },
  before: IncidentBefore | undefined,
): Promise<Silence | null> {
  const silence = (await isMuted(db, alert)) ? 'muted' : silenceOf(alert, before)
  if (silence !== null) await markSilenced(db, alertId, silence)
  else if (before?.isAcknowledged && alert.phase !== 'resolved' && incidentId !== null) {
    await unacknowledge(db, alert.workspaceId, incidentId)
    await queueHandling(db, alert.workspaceId, incidentId, HANDLING_TYPES)
  }
  return silence
}

function silenceOf(
  { phase, severity }: SilenceableAlert,
  before: IncidentBefore | undefined,
): Silence | null {
  if (before?.isSnoozed) return 'snoozed'
  if (!before?.isAcknowledged || phase === 'resolved') return null
  return severity === 'critical' && before.severity !== 'critical' ? null : 'acknowledged'
}
