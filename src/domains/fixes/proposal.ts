import type { DomainFix, LineName } from '../shapes.ts'

/** A difference between the published record and the proposed one, and why. */
export type RecordChange = DomainFix['changes'][number]

/** A record that a line proposes. Proposals for one name and type become one fix. */
export type Proposal = DomainFix

type Wish = Pick<Proposal, 'name' | 'type' | 'line' | 'severity' | 'value' | 'changes'> & {
  published?: string[]
  caution?: string | null
}

export function propose({ published = [], caution = null, ...proposal }: Wish): Proposal {
  return { ...proposal, published, caution }
}

/** A TXT record in place of all others of its kind, for these reasons. */
export function proposeText(
  about: {
    name: string
    line: LineName
    severity: Proposal['severity']
    caution?: string | null
  },
  { published, value, reasons }: { published: string[]; value: string; reasons: string[] },
): Proposal {
  const [first, ...others] = [...new Set(reasons)]
  const changes = [
    { removed: published[0] ?? null, added: value, reason: first ?? '' },
    ...published.slice(1).map((removed) => ({ removed, added: null, reason: first ?? '' })),
    ...others.map((reason) => ({ removed: null, added: null, reason })),
  ]
  return propose({ ...about, type: 'TXT', published, value, changes })
}
