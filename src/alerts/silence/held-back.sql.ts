import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../store/database.ts'
import { covers } from './mutes.sql.ts'
import type { Silence } from './alert-silence.sql.ts'

/**
 * Takes alerts out of messages that wait to be sent.
 * @param which SQL condition on `alert` `a` and its incident `i`
 */
async function holdBackWaiting(
  db: Db,
  workspaceId: string,
  which: RawBuilder<unknown>,
  silenced: Silence,
): Promise<void> {
  await sql`
    with held as (
      delete from alert_message_content c using alert_message m, alert a
        left join alert_incident i on i.id = a.incident_id
      where m.id = c.message_id and m.state = 'waiting' and not c.dropped and a.id = c.alert_id
        and a.workspace_id = ${workspaceId} and ${which}
      returning c.alert_id)
    update alert set silenced = ${silenced} where id in (select alert_id from held)`.execute(db)
}

/** Takes the waiting alerts of an incident out of their messages. */
export async function holdBackIncident(
  db: Db,
  workspaceId: string,
  incidentId: string,
): Promise<void> {
  await holdBackWaiting(db, workspaceId, sql`a.incident_id = ${incidentId}`, 'snoozed')
}

/** Takes waiting updates of an acknowledged incident out of their messages. */
export async function holdBackUpdates(
  db: Db,
  workspaceId: string,
  incidentId: string,
): Promise<void> {
  const which = sql`a.incident_id = ${incidentId} and a.phase = 'update'`
  await holdBackWaiting(db, workspaceId, which, 'acknowledged')
}

/** Takes waiting alerts that a mute covers out of their messages. */
export async function holdBackMuted(db: Db, workspaceId: string, muteId: string): Promise<void> {
  const subject = {
    workspaceId: sql.ref('a.workspace_id'),
    kind: sql.ref('a.kind'),
    path: sql.ref('a.path'),
    key: sql.ref('i.key'),
  }
  const which = sql`a.phase <> 'resolved'
    and exists (select from alert_mute m where m.id = ${muteId} and ${covers(subject)})`
  await holdBackWaiting(db, workspaceId, which, 'muted')
}

export type HeldBackAlert = { id: string; kind: string; title: string; phase: string }

/** The alerts that were held back by the snooze of an incident, oldest first. */
export async function listHeldBack(db: Db, incidentId: string): Promise<HeldBackAlert[]> {
  return db
    .selectFrom('alert')
    .select(['id', 'kind', 'title', 'phase'])
    .where('incidentId', '=', incidentId)
    .where('silenced', '=', 'snoozed')
    .orderBy('at')
    .orderBy('id')
    .execute()
}

/** Records why alerts that a snooze had held back were not sent; null where they are sent now. */
export async function releaseHeldBack(
  db: Db,
  ids: string[],
  silenced: Silence | null,
): Promise<void> {
  if (ids.length === 0) return
  await db.updateTable('alert').set({ silenced }).where('id', 'in', ids).execute()
}
