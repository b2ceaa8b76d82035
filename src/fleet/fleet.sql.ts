import { sql, type Transaction } from 'kysely'
import type { Db } from '../store/database.ts'
import { isInDeletedWorkspace } from '../store/deleted-workspaces.ts'
import type { DB } from '../store/tables.ts'
import type { FleetRule } from './fleet-rules.ts'
import { deleteRows, findRow, listRows, type Row, updateRows } from '../store/row.ts'

const FLEET = [
  'workspaceId',
  'cursor',
  'trimmed',
  'rules',
  'servesShared',
  /** Ids of the public feeds that its list contains. */
  'feeds',
  'badgeId',
] as const

/** The settings of a workspace’s fleet, and where its log of changes begins and ends. */
export type Fleet = Row<'fleet', typeof FLEET, { rules: FleetRule[] | null }>

/**
 * Locks the fleet of a workspace until the transaction ends: changes are numbered in the order of
 * their commits. Undefined for a deleted workspace.
 */
export async function lockFleet(db: Transaction<DB>, workspaceId: string) {
  await sql`
    insert into fleet (workspace_id) select id from workspace
    where id = ${workspaceId} and delete_after is null
    on conflict do nothing`.execute(db)
  const fleet = await db
    .selectFrom('fleet')
    .select(FLEET)
    .where('workspaceId', '=', workspaceId)
    .where((eb) => eb.not(isInDeletedWorkspace('fleet.workspace_id')))
    .forUpdate()
    .executeTakeFirst()
  return fleet as Fleet | undefined
}

export async function findFleet(db: Db, workspaceId: string): Promise<Fleet | undefined> {
  return findRow(db, 'fleet', FLEET, { workspaceId })
}

export async function saveFleetSettings(
  db: Transaction<DB>,
  workspaceId: string,
  {
    rules,
    ...settings
  }: {
    rules?: FleetRule[] | null
    servesShared?: boolean
    feeds?: string[]
    badgeId?: string | null
  },
): Promise<void> {
  const change = {
    ...(rules !== undefined && { rules: rules === null ? null : JSON.stringify(rules) }),
    ...settings,
  }
  if (Object.keys(change).length === 0) return
  await updateRows(db, 'fleet', { workspaceId }, change)
}

export async function saveCursor(
  db: Transaction<DB>,
  workspaceId: string,
  cursor: number,
): Promise<void> {
  await updateRows(db, 'fleet', { workspaceId }, { cursor })
}

// --- what is never banned ---

export type AllowedNetwork = { id: string; network: string; label: string; createdAt: Date }

const ALLOWED = ['id', 'network', 'label', 'createdAt'] as const

export async function listAllowed(db: Db, workspaceId: string): Promise<AllowedNetwork[]> {
  return listRows(db, 'fleetAllowed', ALLOWED, { workspaceId }, 'network')
}

/**
 * Finds a network of the allowlist that contains, or lies in, each of these.
 * @returns the networks found, by what was asked
 */
export async function findAllowedIn(
  db: Db,
  workspaceId: string,
  asked: string[],
): Promise<Map<string, { network: string; label: string }>> {
  const { rows } = await sql<{ asked: string; network: string; label: string }>`
    select distinct on (asked) asked, network::text, label
    from unnest(${asked}::text[]) as asked
    join fleet_allowed on workspace_id = ${workspaceId} and network && asked::inet
    order by asked, network`.execute(db)
  return new Map(rows.map(({ asked: network, ...found }) => [network, found]))
}

/** Undefined when the network is on the allowlist already. */
export async function insertAllowed(
  db: Transaction<DB>,
  row: { workspaceId: string; network: string; label: string },
): Promise<AllowedNetwork | undefined> {
  return db
    .insertInto('fleetAllowed')
    .values(row)
    .onConflict((conflict) => conflict.columns(['workspaceId', 'network']).doNothing())
    .returning(ALLOWED)
    .executeTakeFirst()
}

export async function deleteAllowed(db: Db, workspaceId: string, id: string): Promise<boolean> {
  return deleteRows(db, 'fleetAllowed', { workspaceId, id })
}

/** Addresses from which members of the workspace are signed in to the dashboard, as text. */
export async function listMemberAddresses(db: Db, workspaceId: string): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select distinct s.ip_address as address
    from membership m join session s on s.account_id = m.account_id
    where m.workspace_id = ${workspaceId} and s.expires_at > now() and s.ip_address <> ''
    limit 5000`.execute(db)
  return rows.map(({ address }) => address)
}

/** Lists workspaces where a server appeared or a member signed in lately, perhaps from a banned address. */
export async function listWithNewAddresses(db: Db, since: Date): Promise<string[]> {
  const { rows } = await sql<{ workspaceId: string }>`
    select m.workspace_id from session s
    join membership m on m.account_id = s.account_id
    join fleet f on f.workspace_id = m.workspace_id
    where s.created_at > ${since}
    union
    select workspace_id from fleet_server where created_at > ${since}
    limit 1000`.execute(db)
  return rows.map(({ workspaceId }) => workspaceId)
}

// --- servers ---

export type ServerRow = {
  address: string
  tokenId: string | null
  label: string | null
  reportedAt: Date | null
  followedAt: Date | null
  client: string
}

/** Lists servers, the last to report or follow first. */
export async function listServers(db: Db, workspaceId: string): Promise<ServerRow[]> {
  const { rows } = await sql<ServerRow>`
    select host(s.address) as address, s.token_id, t.label, s.reported_at, s.followed_at, s.client
    from fleet_server s left join abuse_token t on t.id = s.token_id
    where s.workspace_id = ${workspaceId}
    order by greatest(s.reported_at, s.followed_at) desc, s.address`.execute(db)
  return rows
}

export async function listServerAddresses(db: Db, workspaceId: string): Promise<string[]> {
  const { rows } = await sql<{ address: string }>`
    select host(address) as address from fleet_server where workspace_id = ${workspaceId}`.execute(
    db,
  )
  return rows.map(({ address }) => address)
}

/** A server that reported or followed just now. */
export type SeenServer = { address: string; tokenId: string; client?: string }

/**
 * Saves the addresses of servers, and when they were last seen, to the minute.
 * @param most rows of a workspace
 */
export async function saveServers(
  db: Db,
  workspaceId: string,
  {
    servers,
    at,
    as,
    most,
  }: { servers: SeenServer[]; at: Date; as: 'reported' | 'followed'; most: number },
): Promise<void> {
  if (servers.length === 0) return
  const column = sql.id(`${as}_at`)
  const rows = servers.map(({ address, tokenId, client = '' }) => ({ address, tokenId, client }))
  await sql`
    insert into fleet_server as known (workspace_id, address, token_id, client, ${column})
    select ${workspaceId}::uuid, given.address, token.id, given.client, ${at}::timestamptz
    from json_to_recordset(${JSON.stringify(rows)}::json) as given (address inet, "tokenId" uuid, client text)
    join abuse_token token on token.id = given."tokenId"
    where (select count(*) from fleet_server where workspace_id = ${workspaceId}::uuid) < ${most}
      or exists (select from fleet_server s where s.workspace_id = ${workspaceId}::uuid and s.address = given.address)
    order by given.address
    on conflict (workspace_id, address) do update set
      token_id = excluded.token_id,
      client = case when excluded.client = '' then known.client else excluded.client end,
      ${column} = excluded.${column}
    where known.${column} is null or known.${column} < excluded.${column} - interval '1 minute'
      or known.token_id is distinct from excluded.token_id`.execute(db)
}

// --- retention ---

/** Deletes servers that were not seen, old changes, and the oldest changes beyond `maxChanges`. */
export async function trimFleets(
  db: Db,
  limits: { seenBefore: Date; changedBefore: Date; maxChanges: number },
): Promise<void> {
  await sql`
    with cut as (
      select f.workspace_id, greatest(f.trimmed, f.cursor - ${limits.maxChanges}::bigint, coalesce((
        select max(number) from fleet_change c where c.workspace_id = f.workspace_id and c.at < ${limits.changedBefore}
      ), 0)) as number
      from fleet f
    ),
    marked as (
      update fleet f set trimmed = cut.number from cut
      where f.workspace_id = cut.workspace_id and cut.number > f.trimmed
      returning f.workspace_id, f.trimmed
    )
    delete from fleet_change c using marked
    where c.workspace_id = marked.workspace_id and c.number <= marked.trimmed`.execute(db)
  await sql`
    delete from fleet_server
    where coalesce(greatest(reported_at, followed_at), '-infinity') < ${limits.seenBefore}`.execute(
    db,
  )
}
