import type { Kysely } from 'kysely'
import type { Bounded } from '../../store/bounded.ts'
import type { DB } from '../../store/tables.ts'
import type { DomainSummary } from '../shapes.ts'
import { arrangeDomains } from './arrange-domains.ts'
import type { ReadableParts } from './history.ts'
import { listWorkspaceDomains, withStages } from './list-domains.ts'

/** Watched domains with a bad state, with the stages of their last check, by name. */
export async function listBadDomains(
  db: Kysely<DB>,
  workspaceId: string,
  readable: ReadableParts,
  limit: number,
): Promise<Bounded<DomainSummary>> {
  const all = await listWorkspaceDomains(db, workspaceId, readable)
  const bad = arrangeDomains(all, { watched: true }).filter(({ state }) => state === 'bad')
  return {
    rows: await withStages(db, workspaceId, bad.slice(0, limit)),
    total: bad.length,
  }
}
