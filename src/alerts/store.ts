import { sql } from 'kysely'
import type { Db } from '../store/database.ts'

export type AlertRow = {
  id: string
  kind: string
  title: string
  text: string
  nextStep: string
  /** Page of the dashboard; empty for alerts from before there was one. */
  path: string
  at: Date
}

type AlertToInsert = Omit<AlertRow, 'id'> & { workspaceId: string; key: string }

/** @returns its ID; null when the workspace has an alert with this key */
export async function insertAlert(db: Db, alert: AlertToInsert): Promise<string | null> {
  const { workspaceId, kind, key, title, text, nextStep, path, at } = alert
  const row = await db
    .insertInto('alert')
    .values({ workspaceId, kind, key, title, text, nextStep, path, at })
    .onConflict((conflict) => conflict.doNothing())
    .returning('id')
    .executeTakeFirst()
  return row?.id ?? null
}

export type AlertFilter = { kind?: string | undefined }

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
): Promise<AlertRow[]> {
  return alertsOf(db, workspaceId, filter)
    .select(['id', 'kind', 'title', 'text', 'nextStep', 'path', 'at'])
    .orderBy('id', 'desc')
    .limit(limit)
    .offset(offset)
    .execute()
}

function alertsOf(db: Db, workspaceId: string, { kind }: AlertFilter) {
  const all = db.selectFrom('alert').where('workspaceId', '=', workspaceId)
  return kind === undefined
    ? all
    : all.where(sql<boolean>`(kind = ${kind} or split_part(kind, '.', 1) = ${kind})`)
}

/** Deletes older alerts with their messages. */
export async function deleteAlertsBefore(db: Db, before: Date): Promise<number> {
  const { numDeletedRows } = await db
    .deleteFrom('alert')
    .where('createdAt', '<', before)
    .executeTakeFirst()
  await sql`delete from alert_message m where created_at < ${before}
    and not exists (select from alert_message_content where message_id = m.id)`.execute(db)
  return Number(numDeletedRows)
}
