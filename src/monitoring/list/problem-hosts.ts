import type { Kysely } from 'kysely'
import type { DB } from '../../store/tables.ts'
import { describeHosts } from './describe-hosts.ts'
import { countByStatus, listHostIds } from './host-list.sql.ts'

type Host = Awaited<ReturnType<typeof describeHosts>>[number]

/** Hosts with problems, and the counts of all of them. */
export type ProblemHosts = {
  rows: Pick<Host, 'id' | 'host' | 'status' | 'listedCount' | 'listedIps' | 'certificate'>[]
  counts: { listed: number; certificateProblems: number }
}

/** Finds hosts with problems: listed ones first, then those with a problem of a certificate. */
export async function findProblemHosts(
  db: Kysely<DB>,
  workspaceId: string,
  limit: number,
): Promise<ProblemHosts> {
  const counts = await countByStatus(db, workspaceId)
  const most = Math.min(limit, counts.listed + counts.certificateProblems)
  if (most === 0) return { rows: [], counts }
  const ids = await listHostIds(db, workspaceId, { order: 'status' }, { limit: most, offset: 0 })
  return { rows: await describeHosts(db, ids), counts }
}
