import { sql, type RawBuilder } from 'kysely'
import type { Db } from '../../store/database.ts'
import { deleteRows } from '../../store/row.ts'

/** Alerts that are recorded and not sent. */
export type MuteRow = {
  id: string
  /**
   * A page of the dashboard (`/monitoring/ID`), or the name of an incident or its beginning
   * (`blacklist/8.8.4.4`); null for all.
   */
  object: string | null
  /** An alert kind or its first word; null for all. */
  kind: string | null
  /** Name of the object for people. */
  label: string
  reason: string
  /** Null until it is removed. */
  endsAt: Date | null
  createdAt: Date
  /** Email address of the account; null where it was deleted or a link was used. */
  createdBy: string | null
  /** Channel whose link was used. */
  createdVia: string | null
}

export type MuteToInsert = Pick<MuteRow, 'object' | 'kind' | 'label' | 'reason' | 'endsAt'> & {
  workspaceId: string
  accountId: string | null
  via: string | null
}

/** What decides whether an alert is muted. */
export type MutableAlert = {
  workspaceId: string
  kind: string
  path: string
  incident: string | null
}

/** SQL condition: whether mute `m` is in force. */
const isInForce = sql<boolean>`(m.ends_at is null or m.ends_at > now())`

/**
 * SQL condition: whether mute `m` is in force and covers alerts of this kind about this object.
 * @param subject SQL values: the page of the dashboard and the name of the incident, or null
 */
export function covers(subject: {
  workspaceId: RawBuilder<unknown>
  kind: RawBuilder<unknown>
  path: RawBuilder<unknown>
  key: RawBuilder<unknown>
}): RawBuilder<boolean> {
  const { workspaceId, kind, path, key } = subject
  return sql<boolean>`(m.workspace_id = ${workspaceId} and ${isInForce}
    and (m.kind is null or m.kind = ${kind} or m.kind = split_part(${kind}, '.', 1))
    and (m.object is null or m.object = ${path} or m.object = ${key}
      or coalesce(starts_with(${key}, m.object || '/'), false)))`
}

/** Whether a mute covers this alert. */
export async function isMuted(
  db: Db,
  { workspaceId, kind, path, incident }: MutableAlert,
): Promise<boolean> {
  const subject = {
    workspaceId: sql`${workspaceId}::uuid`,
    kind: sql`${kind}::text`,
    path: sql`${path}::text`,
    key: sql`${incident}::text`,
  }
  const { rows } = await sql<{ muted: boolean }>`
    select exists (select from alert_mute m where ${covers(subject)}) as muted`.execute(db)
  return rows[0]?.muted ?? false
}

/**
 * Adds a mute, or replaces the one of the same object and kind.
 * @returns undefined where the workspace has `max` others in force
 */
export async function saveMute(
  db: Db,
  { workspaceId, object, kind, label, reason, endsAt, accountId, via }: MuteToInsert,
  max: number,
): Promise<MuteRow | undefined> {
  // Serialises the mutes of a workspace, so that they are counted right.
  await sql`select from workspace where id = ${workspaceId} for no key update`.execute(db)
  await sql`delete from alert_mute where workspace_id = ${workspaceId} and ends_at <= now()`.execute(
    db,
  )
  const { rows } = await sql<{ id: string }>`
    insert into alert_mute (workspace_id, object, kind, label, reason, ends_at, created_by, created_via)
    select ${workspaceId}::uuid, ${object}::text, ${kind}::text, ${label}, ${reason}, ${endsAt}::timestamptz,
      ${accountId}::uuid, ${via}::text
    where (select count(*) from alert_mute where workspace_id = ${workspaceId}
      and (coalesce(object, ''), coalesce(kind, '')) <> (${object ?? ''}, ${kind ?? ''})) < ${max}
    on conflict (workspace_id, coalesce(object, ''), coalesce(kind, '')) do update set
      label = excluded.label, reason = excluded.reason, ends_at = excluded.ends_at,
      created_by = excluded.created_by, created_via = excluded.created_via, created_at = now()
    returning id`.execute(db)
  return rows[0] && findMute(db, workspaceId, rows[0].id)
}

/** Lists the mutes in force, newest first. */
export async function listMutes(db: Db, workspaceId: string): Promise<MuteRow[]> {
  return mutesOf(db, workspaceId).orderBy('m.createdAt', 'desc').orderBy('m.id', 'desc').execute()
}

async function findMute(db: Db, workspaceId: string, id: string): Promise<MuteRow | undefined> {
  return mutesOf(db, workspaceId).where('m.id', '=', id).executeTakeFirst()
}

function mutesOf(db: Db, workspaceId: string) {
  return db
    .selectFrom('alertMute as m')
    .leftJoin('account', 'account.id', 'm.createdBy')
    .select(['m.id', 'm.object', 'm.kind', 'm.label', 'm.reason', 'm.endsAt', 'm.createdAt'])
    .select(['account.email as createdBy', 'm.createdVia'])
    .where('m.workspaceId', '=', workspaceId)
    .where(isInForce)
}

export async function deleteMute(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'alertMute', { workspaceId, id })
}
