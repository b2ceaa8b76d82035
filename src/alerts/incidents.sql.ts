import { sql } from 'kysely'
import type { Db } from '../store/database.ts'
import { SEVERITIES, type Phase, type Severity } from './severity.ts'
import { findRow, type Row } from '../store/row.ts'

const INCIDENT = [
  'id',
  /** Names the problem within its workspace, such as `blacklist/8.8.4.4/zone`. */
  'key',
  /** Kind, severity, title and path of the last alert that did not resolve it. */
  'kind',
  'severity',
  'title',
  'path',
  /** Number of its alerts. */
  'alerts',
  'openedAt',
  'updatedAt',
  'resolvedAt',
] as const

/** A problem that alerts belong to, from its first alert to the one that resolves it. */
export type IncidentRow = Row<'alertIncident', typeof INCIDENT, { severity: Severity }>

export type IncidentEvent = {
  workspaceId: string
  incident: string
  kind: string
  severity: Severity
  title: string
  path: string
  at: Date
}

/** Opens an incident, or updates the open one with this key. */
export async function openIncident(
  db: Db,
  { workspaceId, incident: key, kind, severity, title, path, at }: IncidentEvent,
): Promise<{ id: string; phase: Phase }> {
  const { rows } = await sql<{ id: string; isNew: boolean }>`
    insert into alert_incident as i (workspace_id, key, kind, severity, title, path, opened_at, updated_at)
    values (${workspaceId}, ${key}, ${kind}, ${severity}, ${title}, ${path}, ${at}, ${at})
    on conflict (workspace_id, key) where resolved_at is null do update
      set kind = excluded.kind, severity = excluded.severity, title = excluded.title, path = excluded.path,
        alerts = i.alerts + 1, updated_at = excluded.updated_at
    returning id, alerts = 1 as is_new`.execute(db)
  const { id, isNew } = rows[0] as { id: string; isNew: boolean }
  return { id, phase: isNew ? 'open' : 'update' }
}

/** @returns the ID of the incident that was open; null where none was */
export async function resolveIncident(
  db: Db,
  { workspaceId, incident, at }: Pick<IncidentEvent, 'workspaceId' | 'incident' | 'at'>,
): Promise<string | null> {
  const row = await db
    .updateTable('alertIncident')
    .set({ resolvedAt: at, updatedAt: at, alerts: sql<number>`alerts + 1` })
    .where('workspaceId', '=', workspaceId)
    .where('key', '=', incident)
    .where('resolvedAt', 'is', null)
    .returning('id')
    .executeTakeFirst()
  return row?.id ?? null
}

export async function isIncidentOpen(db: Db, workspaceId: string, key: string): Promise<boolean> {
  const row = await findRow(db, 'alertIncident', ['id'], { workspaceId, key, resolvedAt: null })
  return row !== undefined
}

/** Lists the open incidents with these keys, and those whose keys begin with these texts. */
export async function listOpenByKey(
  db: Db,
  workspaceId: string,
  { keys, prefixes }: { keys: string[]; prefixes: string[] },
): Promise<Pick<IncidentRow, 'key' | 'title'>[]> {
  if (keys.length === 0 && prefixes.length === 0) return []
  return db
    .selectFrom('alertIncident')
    .select(['key', 'title'])
    .where('workspaceId', '=', workspaceId)
    .where('resolvedAt', 'is', null)
    .where(
      sql<boolean>`(key = any(${keys}) or exists (
        select from unnest(${prefixes}::text[]) as prefix where starts_with(key, prefix)))`,
    )
    .orderBy('id')
    .execute()
}

/** Closes an incident without an alert, where it is open. */
export async function closeIncident(db: Db, workspaceId: string, key: string): Promise<void> {
  await db
    .updateTable('alertIncident')
    .set({ resolvedAt: sql<Date>`now()` })
    .where('workspaceId', '=', workspaceId)
    .where('key', '=', key)
    .where('resolvedAt', 'is', null)
    .execute()
}

/** Closes the open incidents about a deleted object, without an alert. */
export async function closeIncidentsOf(db: Db, workspaceId: string, path: string): Promise<void> {
  await db
    .updateTable('alertIncident')
    .set({ resolvedAt: sql<Date>`now()` })
    .where('workspaceId', '=', workspaceId)
    .where('path', '=', path)
    .where('resolvedAt', 'is', null)
    .execute()
}

export type IncidentFilter = {
  state?: 'open' | 'resolved' | undefined
  severity?: Severity | undefined
  kind?: string | undefined
}

export async function countIncidents(
  db: Db,
  workspaceId: string,
  filter: IncidentFilter,
): Promise<number> {
  const { count } = await incidentsOf(db, workspaceId, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Lists the incidents of a workspace: open ones first, then the newest. */
export async function listIncidents(
  db: Db,
  workspaceId: string,
  filter: IncidentFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<IncidentRow[]> {
  const rows = await incidentsOf(db, workspaceId, filter)
    .select(INCIDENT)
    .orderBy(sql`(resolved_at is null)`, 'desc')
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return rows as IncidentRow[]
}

/** Lists the open incidents of a workspace, the most severe first. */
export async function listOpenIncidents(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<IncidentRow[]> {
  const rows = await incidentsOf(db, workspaceId, { state: 'open' })
    .select(INCIDENT)
    .orderBy(sql`array_position(${SEVERITIES}::text[], severity)`)
    .orderBy('id', 'desc')
    .limit(limit)
    .execute()
  return rows as IncidentRow[]
}

export async function findIncident(
  db: Db,
  workspaceId: string,
  id: string,
): Promise<IncidentRow | undefined> {
  const row = await incidentsOf(db, workspaceId, {})
    .select(INCIDENT)
    .where('id', '=', id)
    .executeTakeFirst()
  return row as IncidentRow | undefined
}

function incidentsOf(db: Db, workspaceId: string, { state, severity, kind }: IncidentFilter) {
  return db
    .selectFrom('alertIncident')
    .where('workspaceId', '=', workspaceId)
    .$if(state !== undefined, (query) =>
      query.where('resolvedAt', state === 'open' ? 'is' : 'is not', null),
    )
    .$if(severity !== undefined, (query) => query.where('severity', '=', severity as Severity))
    .$if(kind !== undefined, (query) =>
      query.where(sql<boolean>`(kind = ${kind} or split_part(kind, '.', 1) = ${kind})`),
    )
}
