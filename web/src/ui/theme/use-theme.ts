import { useMantineColorScheme, type MantineColorScheme } from '@mantine/core'
import type { IconName } from '../brand/icons.tsx'
import { messages } from '../messages.ts'

export type Theme = MantineColorScheme

export const THEMES: { value: Theme; word: string; icon: IconName }[] = [
  { value: 'light', word: messages.theme.light, icon: 'sun' },
  { value: 'dark', word: messages.theme.dark, icon: 'moon' },
  { value: 'auto', word: messages.theme.auto, icon: 'system' },
]

/** The theme of this browser; `auto` follows the system. */
export function useTheme(): { theme: Theme; setTheme: (theme: Theme) => void } {
  const { colorScheme, setColorScheme } = useMantineColorScheme({ keepTransitions: true })
  return { theme: colorScheme, setTheme: setColorScheme }
}
