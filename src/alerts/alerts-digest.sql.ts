// What the digest shows of alerts and their channels.
import { sql } from 'kysely'
import { boundedOf, type Bounded, type Period } from '../store/bounded.ts'
import type { Db } from '../store/database.ts'
import type { ChannelRow } from './channels/channel.ts'
import { targetNameOf } from './channels/channel-name.ts'
import { countIncidents, listOpenIncidents, type IncidentRow } from './incidents.sql.ts'
import { listHandling } from './silence/handling/handling.sql.ts'

export type DigestAlert = {
  id: string
  kind: string
  title: string
  path: string
  at: Date
  isResolved: boolean
}
/** An open problem, as on the page of alerts. */
export type OpenProblem = Pick<
  IncidentRow,
  'key' | 'kind' | 'severity' | 'title' | 'path' | 'openedAt'
> & { handling: 'muted' | 'snoozed' | 'acknowledged' | null }
export type FailingChannel = { type: string; name: string; reason: string }

/** Kinds that report the end of a problem, of alerts from before these had a phase. */
const RESOLVED_KINDS = ['blacklist.cleared', 'certificate.valid', 'delisting.completed']
const IS_RESOLVED = sql<boolean>`(phase = 'resolved' or kind = any(${RESOLVED_KINDS}))`

/** The open problems of a workspace, the most severe first. */
export async function listOpenProblems(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<Bounded<OpenProblem>> {
  const incidents = await listOpenIncidents(db, workspaceId, limit)
  const handling = await listHandling(
    db,
    incidents.map(({ id }) => id),
  )
  const byId = new Map(handling.map((row) => [row.id, row]))
  const rows = incidents.map(({ id, key, kind, severity, title, path, openedAt }) => {
    const row = byId.get(id)
    const state = row?.mute
      ? ('muted' as const)
      : row?.snoozedUntil
        ? ('snoozed' as const)
        : row?.acknowledgedAt
          ? ('acknowledged' as const)
          : null
    return { key, kind, severity, title, path, openedAt, handling: state }
  })
  return { rows, total: await countIncidents(db, workspaceId, { state: 'open' }) }
}

/**
 * Alerts of the period, newest first.
 * @param topics first words of the kinds to leave out, because the digest shows their events itself
 */
export async function listAlertsOf(
  db: Db,
  workspaceId: string,
  { from, to }: Period,
  { without: topics, limit }: { without: string[]; limit: number },
): Promise<Bounded<DigestAlert>> {
  const { rows } = await sql<DigestAlert & { total: number }>`
    select id, kind, title, path, at, ${IS_RESOLVED} as is_resolved, count(*) over ()::int as total
    from alert where workspace_id = ${workspaceId} and at >= ${from} and at < ${to}
      and split_part(kind, '.', 1) <> all(${topics})
    order by id desc limit ${limit}`.execute(db)
  return boundedOf(rows)
}

export type AlertCounts = { raised: number; resolved: number }

/** Counts the alerts of the period: new problems, and problems that ended. */
export async function countAlertsOf(
  db: Db,
  workspaceId: string,
  { from, to }: Period,
): Promise<AlertCounts> {
  const { rows } = await sql<AlertCounts>`
    select (count(*) filter (where not ${IS_RESOLVED}))::int as raised,
      (count(*) filter (where ${IS_RESOLVED}))::int as resolved
    from alert where workspace_id = ${workspaceId} and at >= ${from} and at < ${to}`.execute(db)
  return rows[0] ?? { raised: 0, resolved: 0 }
}

/** Channels whose attempts fail. One that was disabled is an open problem. */
export async function listFailingChannels(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<Bounded<FailingChannel>> {
  const { rows } = await sql<FailingRow>`
    select type, target, settings_shown, coalesce(last_error, '') as reason, count(*) over ()::int as total
    from alert_channel where workspace_id = ${workspaceId} and enabled
      and disabled_reason is null and failing_since is not null
    order by created_at, id limit ${limit}`.execute(db)
  const named = rows.map(({ target, settingsShown, ...row }) => ({
    ...row,
    name: targetNameOf({ type: row.type, target, settingsShown }),
  }))
  return boundedOf(named)
}

type FailingRow = Pick<ChannelRow, 'type' | 'target' | 'settingsShown'> & {
  reason: string
  total: number
}
