// What the digest shows of watched domains.
import { sql } from 'kysely'
import { boundedOf, type Bounded, type Period } from '../store/bounded.ts'
import type { Db } from '../store/database.ts'

type BadDomain = { domain: string; sentence: string }
type DomainChange = {
  domain: string
  at: Date
  name: string
  type: string
  before: string[]
  after: string[]
}

/** Watched domains whose last check had a bad verdict. */
async function listBadDomains(
  db: Db,
  workspaceId: string,
  limit: number,
): Promise<Bounded<BadDomain>> {
  const { rows } = await sql<BadDomain & { total: number }>`
    select domain, coalesce(sentence, '') as sentence, count(*) over ()::int as total from watched_domain
    where workspace_id = ${workspaceId} and state = 'bad' order by domain limit ${limit}`.execute(
    db,
  )
  return boundedOf(rows)
}

/** Changes of the records of watched domains, newest first. */
async function listRecordChanges(
  db: Db,
  workspaceId: string,
  { from, to }: Period,
  limit: number,
): Promise<Bounded<DomainChange>> {
  const { rows } = await sql<DomainChange & { total: number }>`
    select d.domain, e.at, e.name, e.type, e.before, e.after, count(*) over ()::int as total
    from watched_domain d join domain_event e on e.domain_id = d.id
    where d.workspace_id = ${workspaceId} and e.at >= ${from} and e.at < ${to}
    order by e.id desc limit ${limit}`.execute(db)
  return boundedOf(rows)
}

async function countWatchedDomains(db: Db, workspaceId: string): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from watched_domain where workspace_id = ${workspaceId}`.execute(
    db,
  )
  return rows[0]?.count ?? 0
}

/** The reading functions of the digest, which `modules.ts` passes on. */
export const digestOfDomains = {
  countWatched: countWatchedDomains,
  listBad: listBadDomains,
  listRecordChanges,
}
