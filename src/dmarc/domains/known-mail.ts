import type { Db } from '../../store/database.ts'
import type { FindAsn } from '../summary/summary.ts'
import { listWorkspaceSelectors } from '../summary/dmarc-summary.sql.ts'
import { lastDays } from '../summary/range.ts'
import { summarize } from '../summary/summary.ts'
import type { DomainRow } from './dmarc-domains.sql.ts'
import { isoDay } from '../../time.ts'

/** Selectors that a check of the domain tries, the most frequent first. */
const MAX_CHECKED_SELECTORS = 20

type Deps = { db: Db; findAsn: FindAsn }

/** DKIM selectors in the workspace’s reports on a domain. */
export function listSelectorsOf(
  { db }: Deps,
  { workspaceId, domain }: Pick<DomainRow, 'workspaceId' | 'domain'>,
): Promise<string[]> {
  return listWorkspaceSelectors(db, workspaceId, domain, MAX_CHECKED_SELECTORS)
}

/** The next stricter policy, if the reports of the last 30 days show that it is safe; else null. */
export async function findSafePolicy({ db, findAsn }: Deps, row: DomainRow) {
  if (row.totalReports === 0) return null
  const today = isoDay(Date.now())
  const { readiness } = await summarize(db, row, lastDays(30, today), findAsn)
  return readiness.verdict === 'ready' ? readiness.policy : null
}
