import type { Static } from 'typebox'
import type { DOMAIN_ORDERS, DomainQuery, LineState } from '../shapes.ts'
import type { ListedDomain } from './list-domains.ts'

const STATES: readonly LineState[] = ['bad', 'warning', 'unknown', 'good']

/** Null for a domain without a value, which comes last in either direction. */
type Key = string | number | null

/** What each order compares. Domains that are equal in it are in the order of their names. */
const KEYS = {
  domain: ({ domain }) => domain,
  state: ({ state }) => STATES.indexOf(state),
  watched: ({ isWatched }) => Number(isWatched),
  hosts: ({ hostCount }) => hostCount,
  checkedAt: ({ checkedAt }) => checkedAt,
} satisfies Record<(typeof DOMAIN_ORDERS)[number], (summary: ListedDomain) => Key>

type Wanted = Pick<Static<typeof DomainQuery>, 'q' | 'sort' | 'watched'>

/** The domains that match a query, in its order: by default, problems first. */
export function arrangeDomains(
  domains: readonly ListedDomain[],
  { q = '', sort = 'state', watched }: Wanted,
): ListedDomain[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean)
  const keyOf = KEYS[sort.replace('-', '') as keyof typeof KEYS]
  const direction = sort.startsWith('-') ? -1 : 1
  return domains
    .filter(({ isWatched }) => watched === undefined || isWatched === watched)
    .filter((summary) => {
      const text = words.length > 0 ? textOf(summary) : ''
      return words.every((word) => text.includes(word))
    })
    .toSorted((one, other) => {
      const [a, b] = [keyOf(one), keyOf(other)]
      const order =
        a === null || b === null
          ? Number(a === null) - Number(b === null)
          : direction * compare(a, b)
      return order || compare(one.domain, other.domain)
    })
}

function textOf({ domain, sentence, labels, hosts }: ListedDomain): string {
  const names = hosts.map(({ host }) => host)
  return [domain, sentence ?? '', ...labels, ...names].join('\n').toLowerCase()
}

function compare(one: string | number, other: string | number): number {
  return one < other ? -1 : one > other ? 1 : 0
}
