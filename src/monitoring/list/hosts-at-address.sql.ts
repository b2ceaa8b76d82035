import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import type { HostStatus } from '../hosts.sql.ts'

export type HostAtAddress = {
  id: string
  host: string
  label: string
  status: HostStatus
  lastCheckAt: Date | null
  /** The addresses of the host in the network. */
  addresses: string[]
}

const MAX_HOSTS = 100

/** Lists the monitored hosts that are an address of a network, or have one. */
export async function listHostsAt(
  db: Db,
  workspaceId: string,
  network: string,
): Promise<HostAtAddress[]> {
  const { rows } = await sql<HostAtAddress>`
    select h.id, h.host, h.label, h.status, h.last_check_at, array_agg(a.ip order by a.ip) as addresses
    from monitored_host h join monitored_address a on a.host_id = h.id
    where h.workspace_id = ${workspaceId} and a.ip::inet <<= ${network}::inet
    group by h.id order by h.host, h.id limit ${MAX_HOSTS}`.execute(db)
  return rows
}
