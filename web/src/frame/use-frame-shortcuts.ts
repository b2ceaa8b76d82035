import { useNavigate } from '@tanstack/react-router'
import { useShortcuts, type ShortcutAction } from '../shortcuts.ts'
import { MODULES, SETTINGS } from './navigation.ts'
import { useVisibleEntries } from './use-visible-entries.ts'

type FrameKeys = { openPalette: () => void; openSheet: () => void }

/** The keys that work on every screen: where to go, what is found, and j and k in whatever stands there in rows. */
export function useFrameShortcuts({ openPalette, openSheet }: FrameKeys): void {
  const navigate = useNavigate()
  const entries = useVisibleEntries([...MODULES, ...SETTINGS])
  const ways = entries.flatMap(({ shortcut, label, to }): [string, ShortcutAction][] =>
    shortcut ? [[`g ${shortcut}`, [label, () => void navigate({ to })]]] : [],
  )
  useShortcuts(
    {
      ...Object.fromEntries(ways),
      '/': ['Find a screen, check an address', openPalette],
      '?': ['This sheet', openSheet],
      j: ['Next row', () => stepRow(1)],
      k: ['Row before', () => stepRow(-1)],
    },
    'Everywhere',
    true,
  )
}

/** Takes the focus to the way into the next row of a list or table. @returns whether there is one */
function stepRow(by: 1 | -1): boolean {
  const ways = [...document.querySelectorAll<HTMLElement>('main [data-rows] > *')].flatMap((row) => {
    const way = row.querySelector<HTMLElement>('a, button, input')
    return way ? [{ row, way }] : []
  })
  const at = ways.findIndex(({ row }) => row.contains(document.activeElement))
  const next = at < 0 ? ways.at(by > 0 ? 0 : -1) : ways[at + by]
  next?.way.focus()
  next?.row.scrollIntoView({ block: 'nearest' })
  return next !== undefined
}
