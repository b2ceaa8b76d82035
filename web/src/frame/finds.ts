import { guessTarget } from '../check/target.ts'
import type { IconName } from '../ui/icons.tsx'

/** Something that can be found and gone to. */
export type Find = {
  name: string
  /** What it is, where the name does not say it. */
  kind: string
  icon: IconName
  /** Keys that lead there too. */
  stroke?: string | undefined
  /** Other words it is found by. */
  words?: string
  go: () => void
}

/** Most that are shown at once. */
const SOME = 9

/**
 * What somebody means by what is typed: a check of the address or name it is, then what has these words, those whose name
 * begins with them first.
 */
export function findsOf(typed: string, all: readonly Find[], check: (name: string) => void): Find[] {
  const text = typed.trim().toLowerCase()
  const found = all
    .map((find) => ({ find, rank: rankOf(find, text) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((one, other) => other.rank - one.rank)
    .map(({ find }) => find)
  const target = guessTarget(typed)
  const checks: Find[] = target
    ? [{ name: `Check ${target.name}`, kind: CHECKS[target.kind], icon: 'search', go: () => check(target.name) }]
    : []
  return [...checks, ...found].slice(0, SOME)
}

const CHECKS = { address: 'On the blacklists', domain: 'Mail, certificate, DNS' }

/** 3: the name begins so; 2: a word of it does; 1: each word is somewhere; 0: it is not what is meant. */
function rankOf({ name, kind, words = '' }: Find, text: string): number {
  const lower = name.toLowerCase()
  if (lower.startsWith(text)) return 3
  if (lower.includes(` ${text}`)) return 2
  const whole = `${lower} ${kind.toLowerCase()} ${words.toLowerCase()}`
  return text.split(/\s+/).every((word) => whole.includes(word)) ? 1 : 0
}
