import { guessTarget } from '../check/target.ts'
import type { IconName } from '../ui/brand/icons.tsx'

/** Something that can be found and gone to. */
export type PaletteItem = {
  name: string
  /** What it is, where the name does not say it. */
  kind: string
  icon: IconName
  /** Keys that lead there too. */
  shortcut?: string | undefined
  /** Other words it is found by. */
  keywords?: string
  open: () => void
}

/** Most that are shown at once. */
const MAX_SHOWN = 9

/**
 * What somebody means by what is typed: a check of the address or name it is, then what has these words, those whose name
 * begins with them first.
 */
export function findItems(typed: string, all: readonly PaletteItem[], ways: CheckActions): PaletteItem[] {
  const text = typed.trim().toLowerCase()
  const found = all
    .map((find) => ({ find, rank: rankOf(find, text) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((one, other) => other.rank - one.rank)
    .map(({ find }) => find)
  return [...checkItems(typed, ways), ...found].slice(0, MAX_SHOWN)
}

/** Where what is typed can be asked about. */
export type CheckActions = { check: (name: string) => void; lookUp: (ip: string) => void }

const CHECKS = { address: 'On the blacklists', domain: 'Mail, certificate, DNS' }
const IPV6 = /^(?=.*:.*:)[\da-f:]+(\.\d+){0,3}$/i

function checkItems(typed: string, { check, lookUp }: CheckActions): PaletteItem[] {
  const target = guessTarget(typed)
  const ip = target?.kind === 'address' ? target.name : IPV6.exec(typed.trim())?.[0]
  return [
    ...(target ? [checkItem(`Check ${target.name}`, CHECKS[target.kind], () => check(target.name))] : []),
    ...(ip ? [checkItem(`Look up ${ip}`, 'In the attack reports', () => lookUp(ip))] : []),
  ]
}

function checkItem(name: string, kind: string, open: () => void): PaletteItem {
  return { name, kind, icon: 'search', open }
}

/** 3: the name begins so; 2: a word of it does; 1: each word is somewhere; 0: it is not what is meant. */
function rankOf({ name, kind, keywords = '' }: PaletteItem, text: string): number {
  const lower = name.toLowerCase()
  if (lower.startsWith(text)) return 3
  if (lower.includes(` ${text}`)) return 2
  const whole = `${lower} ${kind.toLowerCase()} ${keywords.toLowerCase()}`
  return text.split(/\s+/).every((word) => whole.includes(word)) ? 1 : 0
}
