import { FIX_SEVERITIES } from '../shapes.ts'
import type { Proposal } from './proposal.ts'

/**
 * Makes one proposal of all for one name and type. The most severe one decides the value; what
 * others propose for the same value is added, and the rest is named in the caution.
 * @param proposals at least one, all for the same name and type
 */
export function mergeProposals(proposals: readonly [Proposal, ...Proposal[]]): Proposal {
  const [first, ...others] = proposals.toSorted(
    (one, other) => severityRank(one) - severityRank(other),
  ) as [Proposal, ...Proposal[]]
  return others.reduce(mergeTwo, first)
}

function mergeTwo(one: Proposal, other: Proposal): Proposal {
  const published = [...new Set([...one.published, ...other.published])]
  const cautions = [one.caution, other.caution]
  if (one.value !== other.value)
    cautions.push(`Only one record can be published here, so “${other.value}” is left out.`)
  const known = new Set(one.changes.map(({ reason }) => reason))
  const more = other.changes.filter(({ reason }) => !known.has(reason))
  return {
    ...one,
    published,
    changes: one.value === other.value ? [...one.changes, ...more] : one.changes,
    caution: [...new Set(cautions.filter((caution) => caution !== null))].join(' ') || null,
  }
}

export function severityRank({ severity }: Pick<Proposal, 'severity'>): number {
  return FIX_SEVERITIES.indexOf(severity)
}
