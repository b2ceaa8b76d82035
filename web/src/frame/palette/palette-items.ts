import { guessTarget, targetText, type CheckTarget } from '../../check/guess-target.ts'
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
  openTarget: (target: CheckTarget) => void,
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
  return [...checkItems(typed, openTarget), ...found].slice(0, MAX_SHOWN)
}

const CHECKS = { address: messages.kinds.addressCheck, domain: messages.kinds.domainCheck }

/** The page about the target in a search text. */
function checkItems(typed: string, open: (target: CheckTarget) => void): PaletteItem[] {
  const target = guessTarget(typed)
  if (!target) return []
  const name = messages.checkTarget(targetText(target))
  return [{ name, kind: CHECKS[target.kind], icon: 'search', open: () => open(target) }]
}
