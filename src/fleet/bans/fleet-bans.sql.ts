import { sql, type Transaction } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { DB } from '../../store/tables.ts'
import type { BanState, Sighting } from '../fleet-rules.ts'

/** What caused a change of the list. */
export type Cause =
  | { by: 'report'; token: string; service: string; count: number }
  | { by: 'member'; member: string; reason?: string }
  /** The server took its reports back. */
  | { by: 'withdrawal'; token: string }
  | { by: 'allowlist'; network: string }
  | { by: 'protection'; reason: string }
  | { by: 'time' }

type ChangeKind = 'banned' | 'extended' | 'unbanned' | 'expired'

/** A change of the list that has no number yet. Times are milliseconds since 1970. */
export type NewChange = {
  address: string
  kind: ChangeKind
  expiresAt: number | null
  cause: Cause
}

export type BanRow = BanState & {
  address: string
  bannedAt: number | null
  change: number
  reason: string
  seenAt: number
}

type StoredBan = {
  address: string
  expiresAt: Date | null
  bannedAt: Date | null
  banSeconds: number | null
  bans: number
  change: number
  sightings: Sighting[]
  reason: string
  seenAt: Date
}

/** Finds what is remembered of these addresses. */
export async function findBans(
  db: Db,
  workspaceId: string,
  addresses: string[],
): Promise<BanRow[]> {
  const { rows } = await sql<StoredBan>`
    select address, expires_at, banned_at, ban_seconds, bans, change, sightings, reason, seen_at
    from fleet_ban
    where workspace_id = ${workspaceId} and address = any(${addresses}::inet[])`.execute(db)
  return rows.map(({ expiresAt, bannedAt, seenAt, ...row }) => ({
    ...row,
    expiresAt: expiresAt?.getTime() ?? null,
    bannedAt: bannedAt?.getTime() ?? null,
    seenAt: seenAt.getTime(),
  }))
}

/** Counts the addresses that are remembered, and those that are banned. */
export async function countBans(
  db: Db,
  workspaceId: string,
): Promise<{ remembered: number; active: number }> {
  const { rows } = await sql<{ remembered: number; active: number }>`
    select count(*)::int as remembered, count(expires_at)::int as active
    from fleet_ban where workspace_id = ${workspaceId}`.execute(db)
  return rows[0] ?? { remembered: 0, active: 0 }
}

export async function saveBans(
  db: Transaction<DB>,
  workspaceId: string,
  bans: BanRow[],
): Promise<void> {
  const rows = bans.map(({ expiresAt, bannedAt, seenAt, ...row }) => ({
    ...row,
    expiresAt: dateOf(expiresAt),
    bannedAt: dateOf(bannedAt),
    seenAt: dateOf(seenAt),
  }))
  await sql`
    insert into fleet_ban (workspace_id, address, expires_at, banned_at, ban_seconds, bans, change, sightings, reason, seen_at)
    select ${workspaceId}::uuid, given.* from json_to_recordset(${JSON.stringify(rows)}::json) as given (
      address inet, "expiresAt" timestamptz, "bannedAt" timestamptz, "banSeconds" integer, bans integer,
      change bigint, sightings jsonb, reason text, "seenAt" timestamptz)
    on conflict (workspace_id, address) do update set
      expires_at = excluded.expires_at, banned_at = excluded.banned_at, ban_seconds = excluded.ban_seconds,
      bans = excluded.bans, change = excluded.change, sightings = excluded.sightings,
      reason = excluded.reason, seen_at = excluded.seen_at`.execute(db)
}

const dateOf = (at: number | null) => (at === null ? null : new Date(at).toISOString())

export async function insertChanges(
  db: Transaction<DB>,
  workspaceId: string,
  changes: (NewChange & { number: number })[],
  at: Date,
): Promise<void> {
  const rows = changes.map((change) => ({ ...change, expiresAt: dateOf(change.expiresAt) }))
  await sql`
    insert into fleet_change (workspace_id, number, address, kind, expires_at, cause, at)
    select ${workspaceId}::uuid, given.*, ${at}::timestamptz
    from json_to_recordset(${JSON.stringify(rows)}::json)
      as given (number bigint, address inet, kind text, "expiresAt" timestamptz, cause jsonb)`.execute(
    db,
  )
}

/**
 * Ends bans, and forgets how often the addresses were banned.
 * @returns the addresses that were banned
 */
export async function endBans(
  db: Transaction<DB>,
  workspaceId: string,
  which: { id: string } | { addresses: string[] } | { overlapping: string } | 'all',
): Promise<string[]> {
  const condition =
    which === 'all'
      ? sql`true`
      : 'id' in which
        ? sql`id = ${which.id}`
        : 'addresses' in which
          ? sql`address = any(${which.addresses}::inet[])`
          : sql`address && ${which.overlapping}::inet`
  const { rows } = await sql<{ address: string }>`
    update fleet_ban set expires_at = null, bans = 0, sightings = '[]', reason = ''
    where workspace_id = ${workspaceId} and expires_at is not null and ${condition}
    returning address`.execute(db)
  return rows.map(({ address }) => address)
}

/** Ends the bans whose time is over. @returns their addresses */
export async function expireBans(
  db: Transaction<DB>,
  workspaceId: string,
  now: Date,
): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    update fleet_ban set expires_at = null, reason = ''
    where workspace_id = ${workspaceId} and expires_at <= ${now} returning address`.execute(db)
  return rows.map(({ address }) => address)
}

/** Lists workspaces with bans whose time is over. */
export async function listWithExpired(db: Db, now: Date): Promise<string[]> {
  const { rows } = await sql<{ workspaceId: string }>`
    select distinct workspace_id from fleet_ban where expires_at <= ${now} limit 1000`.execute(db)
  return rows.map(({ workspaceId }) => workspaceId)
}

export async function listActiveAddresses(db: Db, workspaceId: string): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select address from fleet_ban
    where workspace_id = ${workspaceId} and expires_at is not null`.execute(db)
  return rows.map(({ address }) => address)
}

/** When the active bans of a workspace end, by address. */
export async function listBanEnds(db: Db, workspaceId: string): Promise<Map<string, Date>> {
  const { rows } = await sql<{ address: string; expiresAt: Date }>`
    select address, expires_at from fleet_ban
    where workspace_id = ${workspaceId} and expires_at is not null`.execute(db)
  return new Map(rows.map(({ address, expiresAt }) => [address, expiresAt]))
}

// --- pages for people ---

export type ActiveBan = {
  id: string
  address: string
  bannedAt: Date
  expiresAt: Date
  bans: number
  reason: string
  services: string[]
  servers: string[]
}

/** Lists active bans, newest first, with the services and tokens of their last reports. */
export async function listBans(
  db: Db,
  workspaceId: string,
  { now, limit, offset, q }: { now: Date; limit: number; offset: number; q: string },
): Promise<{ rows: ActiveBan[]; total: number }> {
  const { rows } = await sql<ActiveBan & { total: number }>`
    select id, address, banned_at, expires_at, bans, reason,
      (select coalesce(array_agg(distinct s ->> 'service'), '{}') from jsonb_array_elements(sightings) s) as services,
      (select coalesce(array_agg(distinct t.label), '{}') from jsonb_array_elements(sightings) s
        join abuse_token t on t.id = (s ->> 'tokenId')::uuid) as servers,
      count(*) over ()::int as total
    from fleet_ban
    where workspace_id = ${workspaceId} and expires_at > ${now}
      and (${q} = '' or position(lower(${q}) in address::text) > 0)
    order by change desc, id desc limit ${limit} offset ${offset}`.execute(db)
  return {
    rows: rows.map(({ total: _total, ...row }) => row),
    total: rows[0]?.total ?? 0,
  }
}

export type HistoryRow = {
  number: number
  address: string
  kind: ChangeKind
  expiresAt: Date | null
  cause: Cause
  at: Date
}

/** Lists changes, newest first. */
export async function listHistory(
  db: Db,
  workspaceId: string,
  { before, limit, address }: { before: number | null; limit: number; address: string | null },
): Promise<HistoryRow[]> {
  const { rows } = await sql<HistoryRow>`
    select number, address, kind, expires_at, cause, at from fleet_change
    where workspace_id = ${workspaceId}
      and (${before}::bigint is null or number < ${before}::bigint)
      and (${address}::inet is null or address = ${address}::inet)
    order by number desc limit ${limit}`.execute(db)
  return rows
}
