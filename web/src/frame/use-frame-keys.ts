import { useNavigate } from '@tanstack/react-router'
import { useKeys, type Key } from '../keys.ts'
import { ROOMS, SETTINGS } from './navigation.ts'
import { useEntries } from './use-entries.ts'

type FrameKeys = { openPalette: () => void; openSheet: () => void }

/** The keys that work on every screen: where to go, what is found, and j and k in whatever stands there in rows. */
export function useFrameKeys({ openPalette, openSheet }: FrameKeys): void {
  const navigate = useNavigate()
  const entries = useEntries([...ROOMS, ...SETTINGS])
  const ways = entries.flatMap(({ stroke, label, to }): [string, Key][] =>
    stroke ? [[`g ${stroke}`, [label, () => void navigate({ to })]]] : [],
  )
  useKeys(
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
