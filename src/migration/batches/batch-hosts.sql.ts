import { sql } from 'kysely'
import type { Db } from '../../store/database.ts'
import { BATCH_LIMITS } from './limits.ts'

/** A host that rejected several sign-ins, and the mailboxes that wait because of it. */
export type HeldHost = { host: string; rejections: number; mailboxes: number }

export async function listHeldHosts(db: Db, batchId: string): Promise<HeldHost[]> {
  const { rows } = await sql<HeldHost>`
    select h.host, h.rejections, count(m.id)::int as mailboxes
    from batch_host h join batch_mailbox m on m.batch_id = h.batch_id
      and h.host in (m.source_host, m.destination_host) and m.state = 'queued' and not m.verified and m.active_id is null
    where h.batch_id = ${batchId} and h.rejections >= ${BATCH_LIMITS.maxRejections}
    group by h.host, h.rejections order by h.host`.execute(db)
  return rows
}

/** Counts a rejected sign-in at a host. */
export async function addRejection(db: Db, batchId: string, host: string): Promise<void> {
  await sql`insert into batch_host (batch_id, host, rejections) values (${batchId}, ${host}, 1)
    on conflict (batch_id, host) do update set rejections = batch_host.rejections + 1`.execute(db)
}

/** Ends the rejections in a row: of these hosts, or of all. */
export async function resetRejections(
  db: Db,
  batchId: string,
  hosts: readonly string[] | 'all' = 'all',
): Promise<void> {
  await db
    .deleteFrom('batchHost')
    .where('batchId', '=', batchId)
    .$if(hosts !== 'all', (query) => query.where('host', 'in', hosts as string[]))
    .execute()
}
