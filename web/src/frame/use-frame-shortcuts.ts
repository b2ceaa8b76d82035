import { useNavigate } from '@tanstack/react-router'
import { useShortcuts, type ShortcutAction } from '../shortcuts.ts'
import { ALL_SCREENS } from './navigation.ts'
import { useVisibleEntries } from './use-visible-entries.ts'
import { shortcuts as messages } from './messages.ts'

type FrameKeys = { openPalette: () => void; openSheet: () => void }

/**
 * The shortcuts of every screen: navigation, search, and j and k through the rows of a list or
 * table.
 */
export function useFrameShortcuts({ openPalette, openSheet }: FrameKeys): void {
  const navigate = useNavigate()
  const entries = useVisibleEntries(ALL_SCREENS)
  const ways = entries.flatMap(({ shortcut, label, to }): [string, ShortcutAction][] =>
    shortcut ? [[`g ${shortcut}`, [label, () => void navigate({ to })]]] : [],
  )
  useShortcuts(
    {
      ...Object.fromEntries(ways),
      '/': [messages.search, openPalette],
      '?': [messages.thisSheet, openSheet],
      j: [messages.nextRow, () => stepRow(1)],
      k: [messages.previousRow, () => stepRow(-1)],
    },
    messages.everywhere,
    true,
  )
}

/** Focuses the first control of the next or previous row. @returns whether there is one */
function stepRow(by: 1 | -1): boolean {
  const ways = [...document.querySelectorAll<HTMLElement>('main [data-rows] > *')].flatMap(
    (row) => {
      // What the row is about, not its checkbox.
      const way =
        row.querySelector<HTMLElement>('th a') ?? row.querySelector<HTMLElement>('a, button, input')
      return way ? [{ row, way }] : []
    },
  )
  const at = ways.findIndex(({ row }) => row.contains(document.activeElement))
  const next = at < 0 ? ways.at(by > 0 ? 0 : -1) : ways[at + by]
  next?.way.focus()
  next?.row.scrollIntoView({ block: 'nearest' })
  return next !== undefined
}
