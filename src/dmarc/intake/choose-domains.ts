import type { DomainRow } from '../domains/dmarc-domains.sql.ts'
import { isWithin, type Tally } from '../statistics/tally.ts'

type Candidate = Pick<DomainRow, 'id' | 'workspaceId' | 'domain' | 'verifiedAt'>

/**
 * Candidates by name: a report may cover hundreds of domains, and a workspace may have a thousand.
 */
export type CandidateIndex<T extends Candidate> = { all: T[]; byName: Map<string, T[]> }

export function indexCandidates<T extends Candidate>(all: T[]): CandidateIndex<T> {
  return { all, byName: Map.groupBy(all, ({ domain }) => domain) }
}

/**
 * Chooses the registered domains that a report belongs to: its policy domain, else the nearest
 * parent, else a subdomain if all records are from there. If several workspaces have the domain, only
 * verified ones are chosen.
 */
export function chooseDomains<T extends Candidate>(
  { all, byName }: CandidateIndex<T>,
  policyDomain: string,
  tallies: Tally[],
): T[] {
  const nearest = selfAndAbove(policyDomain).find((name) => byName.has(name))
  const chosen =
    nearest === undefined ? chooseBelow(all, policyDomain, tallies) : (byName.get(nearest) ?? [])
  const workspaces = new Set(chosen.map(({ workspaceId }) => workspaceId))
  return workspaces.size > 1 ? chosen.filter(({ verifiedAt }) => verifiedAt !== null) : chosen
}

function chooseBelow<T extends Candidate>(all: T[], policyDomain: string, tallies: Tally[]): T[] {
  if (tallies.length === 0) return []
  return all
    .filter(({ domain }) => domain.endsWith(`.${policyDomain}`) && isAllFrom(domain, tallies))
    .slice(0, 1)
}

function isAllFrom(domain: string, tallies: Tally[]): boolean {
  return tallies.every(({ headerFrom }) => headerFrom !== null && isWithin(headerFrom, domain))
}

/** The domain and its parents. */
export function selfAndAbove(domain: string): string[] {
  const labels = domain.split('.')
  return labels.map((_, index) => labels.slice(index).join('.')).slice(0, 20)
}
