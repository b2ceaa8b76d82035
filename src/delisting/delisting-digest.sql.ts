// What the digest shows of delistings.
import { sql } from 'kysely'
import { boundedOf, type Bounded, type Period } from '../store/bounded.ts'
import type { Db } from '../store/database.ts'

type WaitingDelisting = { id: string; ip: string; steps: number; lists: string[] }
type EndedDelisting = {
  id: string
  ip: string
  status: 'completed' | 'failed'
  steps: number
  removed: number
}

/** Delistings with steps that need the user’s action, most steps first. */
async function listWaiting(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<Bounded<WaitingDelisting>> {
  const { rows } = await sql<WaitingDelisting & { total: number }>`
    select p.id, host(p.ip) as ip, count(*)::int as steps, array_agg(s.name order by s.rank) as lists,
      count(*) over ()::int as total
    from delisting_process p join delisting_step s on s.process_id = p.id
    where p.workspace_id = ${workspaceId} and p.status in ('pending', 'in-progress') and s.needs is not null
    group by p.id order by count(*) desc, p.id limit ${limit}`.execute(db)
  return boundedOf(rows)
}

/** Delistings that ended in the period, newest first. */
async function listEnded(
  db: Db,
  workspaceId: string,
  { from, to }: Period,
  limit: number,
): Promise<Bounded<EndedDelisting>> {
  const { rows } = await sql<EndedDelisting & { total: number }>`
    select p.id, host(p.ip) as ip, p.status, count(s.id)::int as steps,
      (count(s.id) filter (where s.status = 'completed'))::int as removed, count(*) over ()::int as total
    from delisting_process p left join delisting_step s on s.process_id = p.id
    where p.workspace_id = ${workspaceId} and p.status in ('completed', 'failed')
      and p.completed_at >= ${from} and p.completed_at < ${to}
    group by p.id order by p.completed_at desc, p.id desc limit ${limit}`.execute(db)
  return boundedOf(rows)
}

/** The reading functions of the digest, which `modules.ts` passes on. */
export const digestOfDelistings = { listWaiting, listEnded }
