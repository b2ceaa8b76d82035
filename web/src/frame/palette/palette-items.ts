import { guessTarget } from '../../check/guess-target.ts'
import { rankOf } from '../../search-rank.ts'
import { showToast } from '../../toasts.ts'
import type { IconName } from '../../ui/brand/icons.tsx'
import { palette as messages } from '../messages.ts'

/** An entry of the command palette: a screen, an object, or an action that runs at once. */
export type PaletteItem = {
  /** Where several objects may have the same name. */
  id?: string
  name: string
  /** The kind of object, shown beside the name. */
  kind: string
  icon: IconName
  /** The shortcut that opens it too. */
  shortcut?: string | undefined
  /** Further words that match. */
  keywords?: string
  open: () => void
}

/** Shows why an action of the palette failed, after the palette was closed. */
export function reportProblem(error: Error): void {
  showToast({ isProblem: true, text: error.message })
}

/** Entries shown at once, at most. */
const MAX_SHOWN = 10

/**
 * Finds the entries for a search text: first a check of the address or name in it, then entries
 * that match, those whose name begins with the text first.
 */
export function findItems(
  typed: string,
  all: readonly PaletteItem[],
  ways: CheckActions,
): PaletteItem[] {
  const text = typed.trim().toLowerCase()
  const found = all
    .map((find) => ({
      find,
      rank: rankOf(find.name, `${find.kind} ${find.keywords ?? ''}`, text),
    }))
    .filter(({ rank }) => rank > 0)
    .toSorted((one, other) => other.rank - one.rank)
    .map(({ find }) => find)
  return [...checkItems(typed, ways), ...found].slice(0, MAX_SHOWN)
}

/** The checks that a search text can start. */
export type CheckActions = { check: (name: string) => void; lookUp: (ip: string) => void }

const CHECKS = { address: messages.kinds.addressCheck, domain: messages.kinds.domainCheck }
const IPV6 = /^(?=.*:.*:)[\da-f:]+(\.\d+){0,3}$/i

function checkItems(typed: string, { check, lookUp }: CheckActions): PaletteItem[] {
  const target = guessTarget(typed)
  const ip = target?.kind === 'address' ? target.name : IPV6.exec(typed.trim())?.[0]
  return [
    ...(target
      ? [
          checkItem(messages.checkTarget(target.name), CHECKS[target.kind], () =>
            check(target.name),
          ),
        ]
      : []),
    ...(ip ? [checkItem(messages.lookUp(ip), messages.kinds.attackReports, () => lookUp(ip))] : []),
  ]
}

function checkItem(name: string, kind: string, open: () => void): PaletteItem {
  return { name, kind, icon: 'search', open }
}
