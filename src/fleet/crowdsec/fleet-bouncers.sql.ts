import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { findRow } from '../../store/row.ts'
import type { FeedSelection } from '../public-feeds/feed-selection.ts'

/** A bouncer, by its key and what it says of itself. */
export type BouncerKey = { tokenId: string; address: string; name: string }

/** What a bouncer received last; times in milliseconds since 1970. */
export type BouncerState = {
  cursor: number | null
  sharedVersion: number | null
  sharedAt: number | null
  feeds: FeedSelection | null
  feedsAt: number | null
}

export async function findBouncer(
  db: Db,
  { tokenId, address, name }: BouncerKey,
): Promise<BouncerState | undefined> {
  const row = await findRow(
    db,
    'fleetBouncer',
    ['cursor', 'sharedVersion', 'sharedAt', 'feeds', 'feedsAt'],
    { tokenId, address, name },
  )
  return (
    row && {
      ...row,
      sharedAt: row.sharedAt?.getTime() ?? null,
      feeds: row.feeds as FeedSelection | null,
      feedsAt: row.feedsAt?.getTime() ?? null,
    }
  )
}

/** Saves what bouncers received. @param most bouncers of one token */
export async function saveBouncers(
  db: Db,
  bouncers: (BouncerKey & BouncerState)[],
  { at, most }: { at: Date; most: number },
): Promise<void> {
  const timeOf = (time: number | null) => (time === null ? null : new Date(time).toISOString())
  const rows = bouncers.map(({ sharedAt, feedsAt, ...row }) => ({
    ...row,
    sharedAt: timeOf(sharedAt),
    feedsAt: timeOf(feedsAt),
  }))
  await sql`
    insert into fleet_bouncer
      (token_id, address, name, cursor, shared_version, shared_at, feeds, feeds_at, pulled_at)
    select token.id, given.address, given.name, given.cursor, given."sharedVersion", given."sharedAt",
      given.feeds, given."feedsAt", ${at}::timestamptz
    from json_to_recordset(${JSON.stringify(rows)}::json) as given (
      "tokenId" uuid, address inet, name text, cursor bigint, "sharedVersion" integer, "sharedAt" timestamptz,
      feeds jsonb, "feedsAt" timestamptz)
    join abuse_token token on token.id = given."tokenId"
    where (select count(*) from fleet_bouncer b where b.token_id = token.id) < ${most}
      or exists (select from fleet_bouncer b
        where b.token_id = token.id and b.address = given.address and b.name = given.name)
    order by token.id, given.address, given.name
    on conflict (token_id, address, name) do update set
      cursor = excluded.cursor, shared_version = excluded.shared_version, shared_at = excluded.shared_at,
      feeds = excluded.feeds, feeds_at = excluded.feeds_at, pulled_at = excluded.pulled_at`.execute(
    db,
  )
}

/** Figures of a bouncer, such as `{"dropped packet": 17}`. */
export type BouncerMetrics = { type: string; version: string; values: Record<string, number> }

export async function saveBouncerMetrics(
  db: Db,
  { tokenId, address, name }: BouncerKey,
  metrics: BouncerMetrics,
  at: Date,
): Promise<void> {
  await sql`
    insert into fleet_bouncer (token_id, address, name, pulled_at, metrics, metrics_at)
    select id, ${address}::inet, ${name}, ${at}::timestamptz, ${JSON.stringify(metrics)}::jsonb, ${at}::timestamptz
    from abuse_token where id = ${tokenId}
    on conflict (token_id, address, name) do update
      set metrics = excluded.metrics, metrics_at = excluded.metrics_at`.execute(db)
}

export type BouncerRow = {
  address: string
  name: string
  label: string
  pulledAt: Date
  metrics: BouncerMetrics | null
  metricsAt: Date | null
}

/** Lists bouncers, the last to pull first. */
export async function listBouncers(db: Db, workspaceId: string): Promise<BouncerRow[]> {
  const { rows } = await sql<BouncerRow>`
    select host(b.address) as address, b.name, t.label, b.pulled_at, b.metrics, b.metrics_at
    from fleet_bouncer b join abuse_token t on t.id = b.token_id
    where t.workspace_id = ${workspaceId}
    order by b.pulled_at desc, b.token_id, b.address, b.name limit 2000`.execute(db)
  return rows
}

/** Active bans that overlap a network: those in it and those that contain it. */
export async function listBansIn(db: Db, workspaceId: string, network: string) {
  const { rows } = await sql<{ address: string; expiresAt: Date; change: number; service: string }>`
    select address, expires_at, change, coalesce(sightings -> -1 ->> 'service', '') as service
    from fleet_ban
    where workspace_id = ${workspaceId} and expires_at > now() and address && ${network}::inet
    order by change limit 100000`.execute(db)
  return rows.map(({ expiresAt, ...row }) => ({ ...row, expiresAt: expiresAt.getTime() }))
}

/** Addresses of the published shared list in a network. */
export async function listPublishedIn(db: Db, network: string): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select address from abuse_address
    where published and address <<= ${network}::inet order by address limit 100000`.execute(db)
  return rows.map(({ address }) => address)
}
