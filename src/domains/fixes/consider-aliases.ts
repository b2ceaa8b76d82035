import { findAlias } from '../../protocols/aliased-records.ts'
import type { DnsQueries } from '../../protocols/dns-queries.ts'
import type { LineResult } from '../lines/line.ts'
import type { Proposal } from './proposal.ts'

/**
 * The proposals of a line that can be published: one at an alias says so in its caution, and one at
 * a host that is an alias becomes a detail of the line.
 */
export async function considerAliases(
  { details = [], proposals = [] }: Pick<LineResult, 'details' | 'proposals'>,
  queries: DnsQueries,
): Promise<{ details: string[]; proposals: Proposal[] }> {
  const found = await Promise.all(
    proposals.map(async (proposal) => ({ proposal, alias: await findAlias(proposal, queries) })),
  )
  const kept = found.filter(({ alias }) => alias?.canBePublished ?? true)
  const left = found.filter(({ alias }) => alias?.canBePublished === false)
  return {
    details: [...details, ...left.flatMap(({ alias }) => alias?.message ?? [])],
    proposals: kept.map(({ proposal, alias }) =>
      alias
        ? { ...proposal, caution: [proposal.caution, alias.message].filter(Boolean).join(' ') }
        : proposal,
    ),
  }
}
