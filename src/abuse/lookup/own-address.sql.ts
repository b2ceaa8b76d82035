import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'

/** What a workspace has about an address in attack reporting. */
export type OwnAddress = {
  ban: {
    bannedAt: Date | null
    expiresAt: Date | null
    bans: number
    reason: string
    seenAt: Date
  } | null
  reports: { server: string | null; service: string; count: number; at: Date }[]
  allowed: { network: string; label: string } | null
  server: { label: string | null; reportedAt: Date | null; followedAt: Date | null } | null
  watched: { id: string; network: string; label: string }[]
  contact: { network: string; email: string | null } | null
}

type Stored<T> = { [K in keyof T]: T[K] extends Date ? string : T[K] extends Date | null ? string | null : T[K] } // prettier-ignore

/** @param key an IPv4 address, or an IPv6 /64 */
export async function findOwnAddress(
  db: Db,
  workspaceId: string,
  key: string,
): Promise<OwnAddress> {
  const { rows } = await sql<{
    ban: Stored<NonNullable<OwnAddress['ban']>> | null
    reports: Stored<OwnAddress['reports'][number]>[]
    allowed: OwnAddress['allowed']
    server: Stored<NonNullable<OwnAddress['server']>> | null
    watched: OwnAddress['watched']
    contact: OwnAddress['contact']
  }>`
    with known as (select * from fleet_ban where workspace_id = ${workspaceId} and address = ${key}::inet)
    select
      (select json_build_object('bannedAt', banned_at, 'expiresAt', expires_at, 'bans', bans, 'reason', reason,
        'seenAt', seen_at) from known) as ban,
      coalesce((select json_agg(json_build_object('server', t.label, 'service', s.service, 'count', s.count,
          'at', to_timestamp(s.at / 1000.0)) order by s.at desc)
        from known cross join lateral jsonb_to_recordset(sightings)
          as s ("tokenId" uuid, service text, count integer, at float8)
        left join abuse_token t on t.id = s."tokenId"), '[]') as reports,
      (select json_build_object('network', network::text, 'label', label) from fleet_allowed
        where workspace_id = ${workspaceId} and network >>= ${key}::inet
        order by masklen(network) desc limit 1) as allowed,
      (select json_build_object('label', t.label, 'reportedAt', s.reported_at, 'followedAt', s.followed_at)
        from fleet_server s left join abuse_token t on t.id = s.token_id
        where s.workspace_id = ${workspaceId} and s.address <<= ${key}::inet
        order by greatest(s.reported_at, s.followed_at) desc limit 1) as server,
      coalesce((select json_agg(json_build_object('id', id, 'network', network::text, 'label', label)
          order by masklen(network::inet) desc)
        from watched_network where workspace_id = ${workspaceId} and network::inet >>= ${key}::inet), '[]') as watched,
      (select json_build_object('network', network, 'email', email) from abuse_contact
        where prefix = network(set_masklen(${key}::inet, ${key.includes(':') ? 48 : 24}))) as contact`.execute(
    db,
  )
  const [row] = rows
  const date = (at: string | null) => (at === null ? null : new Date(at))
  return {
    ban: row?.ban
      ? {
          ...row.ban,
          bannedAt: date(row.ban.bannedAt),
          expiresAt: date(row.ban.expiresAt),
          seenAt: new Date(row.ban.seenAt),
        }
      : null,
    reports: (row?.reports ?? []).map((report) => ({ ...report, at: new Date(report.at) })),
    allowed: row?.allowed ?? null,
    server: row?.server
      ? {
          ...row.server,
          reportedAt: date(row.server.reportedAt),
          followedAt: date(row.server.followedAt),
        }
      : null,
    watched: row?.watched ?? [],
    contact: row?.contact ?? null,
  }
}
