import { sql } from 'kysely'
import type { Db } from '../../../store/database.ts'
import { isInDeletedWorkspace } from '../../../store/deleted-workspaces.ts'
import type { Action } from './action-links.ts'
import type { LinkSubject } from './silence-token.ts'

/** What a link acts on. */
export type LinkTarget = {
  workspaceId: string
  incidentId: string
  /** Name of the incident. */
  key: string
  /** Title of the alert in the message. */
  title: string
  hasEnded: boolean
  isUsed: boolean
  channelType: string
  channelTarget: string
  settingsShown: Record<string, string> | null
}

/** What a link acts on; undefined where its channel is gone or off, or has no links any more. */
export async function findLinkTarget(
  db: Db,
  { alertId, channelId }: LinkSubject,
): Promise<LinkTarget | undefined> {
  const { rows } = await sql<LinkTarget>`
    select i.workspace_id, i.id as incident_id, i.key, a.title, i.resolved_at is not null as has_ended,
      exists (select from alert_link_use where alert_id = a.id and channel_id = c.id) as is_used,
      c.type as channel_type, c.target as channel_target, c.settings_shown
    from alert a
    join alert_incident i on i.id = a.incident_id and i.workspace_id = a.workspace_id
    join alert_channel c on c.id = ${channelId} and c.workspace_id = a.workspace_id
    where a.id = ${alertId} and c.action_links and c.enabled
      and not ${isInDeletedWorkspace('a.workspace_id')}`.execute(db)
  return rows[0]
}

/** Records the use of a link; false where it was used before, or its channel was deleted. */
export async function claimLink(
  db: Db,
  { alertId, channelId }: LinkSubject,
  action: Action,
): Promise<boolean> {
  const { numAffectedRows = 0n } = await sql`
    insert into alert_link_use (alert_id, channel_id, action)
    select ${alertId}, id, ${action} from alert_channel where id = ${channelId} for key share
    on conflict do nothing`.execute(db)
  return numAffectedRows > 0n
}
