import { MAX_FIXES, MAX_RECORD_CHARACTERS } from '../limits.ts'
import { LINE_NAMES, type DomainFix } from '../shapes.ts'
import { mergeProposals, severityRank } from './merge-records.ts'
import type { Proposal } from './proposal.ts'

/** One final record for each name and type, the most urgent first. */
export function composeFixes(proposals: readonly Proposal[]): DomainFix[] {
  const byRecord = new Map<string, [Proposal, ...Proposal[]]>()
  for (const proposal of proposals) {
    const key = `${proposal.name.toLowerCase()} ${proposal.type}`
    const known = byRecord.get(key)
    if (known) known.push(proposal)
    else byRecord.set(key, [proposal])
  }
  return [...byRecord.values()]
    .map(mergeProposals)
    .filter(({ published, value }) => published.length !== 1 || published[0] !== value)
    .filter(({ published, value }) =>
      [value, ...published].every((text) => text.length <= MAX_RECORD_CHARACTERS),
    )
    .toSorted(
      (one, other) => severityRank(one) - severityRank(other) || lineRank(one) - lineRank(other),
    )
    .slice(0, MAX_FIXES)
}

function lineRank({ line }: DomainFix): number {
  return LINE_NAMES.indexOf(line)
}
