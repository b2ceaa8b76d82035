import type { DomainRow } from '../domains/store.ts'
import { isWithin, type Tally } from '../statistics/tally.ts'

type Candidate = Pick<DomainRow, 'id' | 'accountId' | 'domain' | 'verifiedAt'>

/**
 * The registered domains a report belongs to: that of its policy, else the nearest one above it, else one below it when
 * all that the report counts is from there. Where several accounts have it, those who proved it.
 */
export function chooseDomains<T extends Candidate>(candidates: T[], policyDomain: string, tallies: Tally[]): T[] {
  const chosen =
    nonEmpty(candidates.filter(({ domain }) => domain === policyDomain)) ??
    nonEmpty(longest(candidates.filter(({ domain }) => policyDomain.endsWith(`.${domain}`)))) ??
    candidates.filter(({ domain }) => domain.endsWith(`.${policyDomain}`) && isAllFrom(domain, tallies)).slice(0, 1)
  const accounts = new Set(chosen.map(({ accountId }) => accountId))
  return accounts.size > 1 ? chosen.filter(({ verifiedAt }) => verifiedAt !== null) : chosen
}

function nonEmpty<T>(list: T[]): T[] | undefined {
  return list.length > 0 ? list : undefined
}

function longest<T extends Candidate>(candidates: T[]): T[] {
  const most = Math.max(...candidates.map(({ domain }) => domain.length))
  return candidates.filter(({ domain }) => domain.length === most)
}

function isAllFrom(domain: string, tallies: Tally[]): boolean {
  return tallies.length > 0 && tallies.every(({ headerFrom }) => headerFrom !== null && isWithin(headerFrom, domain))
}

/** The domain and all above it: where a registered one may be found. */
export function selfAndAbove(domain: string): string[] {
  const labels = domain.split('.')
  return labels.map((_, index) => labels.slice(index).join('.')).slice(0, 20)
}
