import { THEMES, useTheme } from '../../../ui/theme/use-theme.ts'
import { palette as messages } from '../../messages.ts'
import type { PaletteItem } from '../palette-items.ts'

/** The themes, without the one in use. */
export function useAppearanceItems(): PaletteItem[] {
  const { theme, setTheme } = useTheme()
  return THEMES.filter(({ value }) => value !== theme).map(({ value, icon }) => ({
    name: messages.themes[value],
    kind: messages.kinds.appearance,
    icon,
    keywords: messages.themeKeywords,
    open: () => setTheme(value),
  }))
}
