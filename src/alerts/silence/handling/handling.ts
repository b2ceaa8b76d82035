import type { Db } from '../../../store/database.ts'
import type { Handling } from '../../channels/channel-type.ts'
import type { AlertRow } from '../../alerts.sql.ts'
import { byLink, FORMER_MEMBER, handlingLine } from '../messages.ts'
import { findArrivedAlert, listHandling, type HandlingRow } from './handling.sql.ts'

/** Who acted: an email address, the link of a channel, or a member who left. */
export function nameOfActor(by: string | null, via: string | null): string {
  return by ?? (via === null ? FORMER_MEMBER : byLink(via))
}

/**
 * The alert at a service that shows who handles its incident, and who does now; undefined where the
 * incident has ended, or the service has no message about it.
 */
export async function findHandled(
  db: Db,
  { handlingOf, channel }: { handlingOf: string | null; channel: { id: string } },
): Promise<{ alert: AlertRow; handling: Handling } | undefined> {
  if (handlingOf === null) return undefined
  const alert = await findArrivedAlert(db, channel.id, handlingOf)
  const [row] = await listHandling(db, [handlingOf])
  return alert && row && { alert, handling: handlingIn(row) }
}

function handlingIn(row: HandlingRow): Handling {
  if (row.acknowledgedAt !== null) {
    const line = handlingLine.acknowledged(nameOfActor(row.acknowledgedBy, row.acknowledgedVia))
    return { state: 'acknowledged', line }
  }
  if (row.snoozedUntil === null) return { state: 'open', line: null }
  const by = nameOfActor(row.snoozedBy, row.snoozedVia)
  return { state: 'snoozed', line: handlingLine.snoozed(by, row.snoozedUntil) }
}
