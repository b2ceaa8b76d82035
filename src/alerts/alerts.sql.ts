import { sql } from 'kysely'
import type { Db } from '../store/database.ts'
import { updateRows } from '../store/row.ts'
import type { Phase, Severity } from './severity.ts'

export type AlertRow = {
  id: string
  kind: string
  title: string
  text: string
  nextStep: string
  /** Page of the dashboard; empty for alerts from before there was one. */
  path: string
  at: Date
  phase: Phase
  severity: Severity
  /** The incident and its name; null for an event without an end. */
  incidentId: string | null
  incident: string | null
}

/** An alert with the state of its incident. */
export type ListedAlertRow = AlertRow & {
  resolvedAt: Date | null
  /** Why it was not sent; null where it was. */
  silenced: string | null
}

type AlertToInsert = Omit<AlertRow, 'id' | 'incidentId' | 'incident'> & {
  workspaceId: string
  key: string
}

/** @returns its ID; null when the workspace has an alert with this key */
export async function insertAlert(db: Db, alert: AlertToInsert): Promise<string | null> {
  const { workspaceId, kind, key, title, text, nextStep, path, at, phase, severity } = alert
  const row = await db
    .insertInto('alert')
    .values({ workspaceId, kind, key, title, text, nextStep, path, at, phase, severity })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id ?? null
}

/** Records what an alert turned out to be for its incident. */
export async function assignIncident(
  db: Db,
  alertId: string,
  { id: incidentId, phase }: { id: string | null; phase: Phase },
): Promise<void> {
  await updateRows(db, 'alert', { id: alertId }, { incidentId, phase })
}

export type AlertFilter = {
  /** A kind, or its first word. */
  kind?: string | undefined
  severity?: Severity | undefined
  phase?: Phase | undefined
  /** State of the incident. */
  state?: 'open' | 'resolved' | undefined
  incidentId?: string | undefined
}

export async function countAlerts(
  db: Db,
  workspaceId: string,
  filter: AlertFilter,
): Promise<number> {
  const { count } = await alertsOf(db, workspaceId, filter)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .executeTakeFirstOrThrow()
  return count
}

/** Lists the alerts of a workspace, newest first. */
export async function listAlerts(
  db: Db,
  workspaceId: string,
  filter: AlertFilter,
  { limit, offset }: { limit: number; offset: number },
): Promise<ListedAlertRow[]> {
  const rows = await alertsOf(db, workspaceId, filter)
    .select(['alert.id', 'alert.kind', 'alert.title', 'text', 'nextStep', 'alert.path', 'at'])
    .select(['phase', 'alert.severity', 'incidentId', 'incident.key as incident', 'resolvedAt'])
    .select('alert.silenced')
    .orderBy('alert.id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
  return rows as ListedAlertRow[]
}

function alertsOf(
  db: Db,
  workspaceId: string,
  { kind, severity, phase, state, incidentId }: AlertFilter,
) {
  return db
    .selectFrom('alert')
    .leftJoin('alertIncident as incident', 'incident.id', 'incidentId')
    .where('alert.workspaceId', '=', workspaceId)
    .$if(kind !== undefined, (query) =>
      query.where(sql<boolean>`(alert.kind = ${kind} or split_part(alert.kind, '.', 1) = ${kind})`),
    )
    .$if(severity !== undefined, (query) =>
      query.where('alert.severity', '=', severity as Severity),
    )
    .$if(phase !== undefined, (query) => query.where('phase', '=', phase as Phase))
    .$if(incidentId !== undefined, (query) => query.where('incidentId', '=', incidentId as string))
    .$if(state !== undefined, (query) =>
      query
        .where('incidentId', 'is not', null)
        .where('resolvedAt', state === 'open' ? 'is' : 'is not', null),
    )
}
