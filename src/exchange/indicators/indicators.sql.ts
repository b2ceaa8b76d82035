import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'

/** The last change of an address on the shared list within a week. */
export type RecentChange = {
  address: string
  listed: boolean
  at: Date
  firstSeen: Date | null
  lastSeen: Date | null
}

/** Changes are kept for a week. */
export async function listRecentChanges(db: Db, version: number): Promise<RecentChange[]> {
  const { rows } = await sql<RecentChange>`
    select distinct on (c.address) c.address, c.listed, s.created_at as at,
      a.first_reported_at as first_seen, a.last_reported_at as last_seen
    from abuse_snapshot_change c
    join abuse_snapshot s on s.version = c.version
    left join abuse_address a on a.address = c.address
    where c.version <= ${version}
    order by c.address, c.version desc`.execute(db)
  return rows
}

type FleetIndicator = {
  address: string
  services: string[]
  firstSeen: Date
  lastSeen: Date
  issuedAt: Date
  validUntil: Date
  isRevoked: boolean
}

const DAYS_OF_REVOKED = 7

/** Active bans of a workspace, and those that ended early within a week, oldest change first. */
export async function listFleetIndicators(db: Db, workspaceId: string): Promise<FleetIndicator[]> {
  const { rows } = await sql<FleetIndicator>`
    with latest as (
      select distinct on (address) address, kind, at, cause from fleet_change
      where workspace_id = ${workspaceId} order by address, number desc
    )
    select l.address,
      case when b.expires_at > now() and coalesce(l.cause ->> 'service', '') <> ''
        then array[l.cause ->> 'service'] else '{}'::text[] end as services,
      coalesce(b.banned_at, l.at) as first_seen, coalesce(b.seen_at, l.at) as last_seen,
      l.at as issued_at, coalesce(b.expires_at, l.at) as valid_until,
      coalesce(b.expires_at <= now(), true) as is_revoked
    from latest l
    left join fleet_ban b on b.workspace_id = ${workspaceId} and b.address = l.address
    where b.expires_at > now()
      or (l.kind = 'unbanned' and l.at > now() - make_interval(days => ${DAYS_OF_REVOKED}))
    order by l.at, l.address`.execute(db)
  return rows
}
