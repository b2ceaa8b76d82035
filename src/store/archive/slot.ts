import { Client } from 'pg'
import type { Embedded } from '../embedded.ts'
import { formatLsn, parseLsn } from './wal.ts'

/**
 * The replication slot of the archive: PostgreSQL keeps the WAL from its position on, and forgets
 * it with the data folder, so that a restored database begins a new chain. Its name contains the
 * chain’s.
 */
const PREFIX = 'archive_'

export type Slot = {
  chain: string
  /** The first position that is not archived; null when PostgreSQL has removed WAL after it. */
  position: bigint | null
}

/** The slot of the chain in progress; null without one. */
export async function findSlot(client: Client): Promise<Slot | null> {
  const { rows } = await client.query<{ slot: string; restart: string | null; status: string }>(
    `select slot_name as slot, restart_lsn::text as restart, wal_status as status
       from pg_replication_slots
      where slot_type = 'physical' and not temporary and starts_with(slot_name, $1)`,
    [PREFIX],
  )
  const [row] = rows
  if (!row) return null
  const isLost = row.restart === null || row.status === 'lost'
  return {
    chain: row.slot.slice(PREFIX.length),
    position: isLost ? null : parseLsn(row.restart ?? ''),
  }
}

/** @returns the position at which it begins */
export async function createSlot(client: Client, chain: string): Promise<bigint> {
  const { rows } = await client.query<{ lsn: string }>(
    'select lsn::text from pg_create_physical_replication_slot($1, true)',
    [PREFIX + chain],
  )
  return parseLsn(rows[0]?.lsn ?? '0/0')
}

/** Lets PostgreSQL remove the WAL before a position. */
export async function advanceSlot(client: Client, chain: string, position: bigint): Promise<void> {
  await client.query('select pg_replication_slot_advance($1, $2::pg_lsn)', [
    PREFIX + chain,
    formatLsn(position),
  ])
}

/** Ends a chain: PostgreSQL keeps no WAL for it any more. */
export async function dropSlots(client: Client): Promise<void> {
  await client.query(
    `select pg_drop_replication_slot(slot_name) from pg_replication_slots
      where slot_type = 'physical' and not temporary and not active and starts_with(slot_name, $1)`,
    [PREFIX],
  )
}

/** Lets PostgreSQL remove WAL that the archive lacks rather than fill the disk. */
export async function limitKeptWal(client: Client, bytes: number): Promise<void> {
  const megabytes = String(Math.ceil(bytes / 2 ** 20))
  const { rows } = await client.query<{ setting: string }>(
    `select setting from pg_settings where name = 'max_slot_wal_keep_size'`,
  )
  if (rows[0]?.setting === megabytes) return
  await client.query(`alter system set max_slot_wal_keep_size = '${megabytes}MB'`)
  await client.query('select pg_reload_conf()')
}

/** Ends the archiving of an earlier configuration, so that PostgreSQL keeps no WAL for it. */
export async function endArchiving({ adminUrl }: Pick<Embedded, 'adminUrl'>): Promise<void> {
  const client = new Client({ connectionString: adminUrl, query_timeout: 30_000 })
  client.on('error', () => {})
  await client.connect()
  try {
    await dropSlots(client)
  } finally {
    await client.end()
  }
}
