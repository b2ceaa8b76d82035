import { useNavigate } from '@tanstack/react-router'
import { inService } from '../../../base-path.ts'
import { ALL_SCREENS } from '../../navigation.ts'
import { useVisibleEntries } from '../../use-visible-entries.ts'
import { inGuide } from '../../guide-page.ts'
import { frame, palette as messages } from '../../messages.ts'
import type { PaletteItem } from '../palette-items.ts'

/** The screens of the navigation, the guide and the API documentation. */
export function useScreenItems(): PaletteItem[] {
  const navigate = useNavigate()
  const entries = useVisibleEntries(ALL_SCREENS)
  const kind = messages.kinds.screen
  return [
    ...entries.map(({ label: name, icon, shortcut, keywords, to }): PaletteItem => {
      return {
        name,
        icon,
        kind,
        shortcut: shortcut && `g ${shortcut}`,
        ...(keywords && { keywords }),
        open: () => void navigate({ to }),
      }
    }),
    {
      name: frame.guide,
      kind,
      icon: 'book',
      open: () => window.location.assign(inGuide()),
    },
    {
      name: frame.documentation,
      kind,
      icon: 'book',
      open: () => window.location.assign(inService('/docs')),
    },
  ]
}
