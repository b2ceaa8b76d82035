import type { Kysely } from 'kysely'
import { Fault } from '../../../errors.ts'
import type { DB } from '../../../store/tables.ts'
import { MINUTE_MS } from '../../../time.ts'
import { targetNameOf } from '../../channels/channel-name.ts'
import { acknowledgeIncident, muteAlerts, snoozeIncident } from '../silence-actions.ts'
import {
  auditActions,
  auditActor,
  linkPage as messages,
  MUTE_CHOICES,
  SNOOZE_CHOICES,
} from '../messages.ts'
import type { Action } from './action-links.ts'
import { claimLink, type LinkTarget } from './silence-links.sql.ts'
import type { LinkSubject } from './silence-token.ts'

/** An entry of the audit log. */
export type LinkAuditEntry = {
  workspaceId: string
  actorId: null
  actorEmail: string
  token: null
  what: string
  route: string
  details: Record<string, unknown>
}

export type WriteAudit = (entry: LinkAuditEntry) => Promise<void>

/** What the form of the page sends; `minutes` is one of its choices. */
export type LinkRequest = { action: Action; minutes?: string | undefined }

function channelOf({ channelType, channelTarget, settingsShown }: LinkTarget): string {
  return targetNameOf({ type: channelType, target: channelTarget, settingsShown })
}

/**
 * Acts once by a link.
 * @returns what was done, in words; null where the link was used before
 * @throws Fault `conflict` where the incident has ended or there are too many mutes;
 *   `invalid_request` for a duration that the page does not offer
 */
export async function actByLink(
  db: Kysely<DB>,
  subject: LinkSubject,
  target: LinkTarget,
  { action, minutes }: LinkRequest,
): Promise<string | null> {
  const { workspaceId, incidentId: id, key, title } = target
  const actor = { accountId: null, via: channelOf(target) }
  const choice = choiceOf(action, minutes)
  const until = new Date(Date.now() + choice.minutes * MINUTE_MS)
  return db.transaction().execute(async (trx) => {
    if (!(await claimLink(trx, subject, action))) return null
    if (action === 'acknowledge') await acknowledgeIncident(trx, { workspaceId, id }, actor)
    else if (action === 'snooze')
      await snoozeIncident(trx, { workspaceId, id }, { ...actor, until })
    else {
      const endsAt = choice.minutes === 0 ? null : until
      const mute = { object: key, kind: null, label: title, reason: messages.muteReason, endsAt }
      await muteAlerts(trx, { workspaceId, ...mute, ...actor })
    }
    return action === 'acknowledge' ? messages.acknowledge.done : messages[action].done(choice.name)
  })
}

function choiceOf(action: Action, minutes: string | undefined): { minutes: number; name: string } {
  if (action === 'acknowledge') return { minutes: 0, name: '' }
  const choices: readonly { minutes: number; name: string }[] =
    action === 'snooze' ? SNOOZE_CHOICES : MUTE_CHOICES
  const choice = choices.find((one) => String(one.minutes) === minutes)
  if (!choice) throw new Fault('invalid_request', 'The page does not offer this duration.')
  return choice
}

/** The entry of the audit log for an action by a link. */
export function auditEntryOf(
  target: LinkTarget,
  { action, minutes }: LinkRequest,
  route: string,
): LinkAuditEntry {
  const { workspaceId, incidentId, title } = target
  const actorEmail = auditActor(channelOf(target))
  const details = { incident: incidentId, title, ...(minutes !== undefined && { minutes }) }
  const what = auditActions[action]
  return { workspaceId, actorId: null, actorEmail, token: null, what, route, details }
}
