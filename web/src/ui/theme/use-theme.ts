import { useSyncExternalStore } from 'react'
import type { IconName } from '../brand/icons.tsx'
import { messages } from '../messages.ts'

export type Theme = 'light' | 'dark' | 'auto'

export const THEMES: { value: Theme; word: string; icon: IconName }[] = [
  { value: 'light', word: messages.theme.light, icon: 'sun' },
  { value: 'dark', word: messages.theme.dark, icon: 'moon' },
  { value: 'auto', word: messages.theme.auto, icon: 'system' },
]

/** Where the theme is saved, and start.js reads it before the first paint. */
const STORAGE_KEY = 'portreeve-theme'

const watchers = new Set<() => void>()
const system = matchMedia('(prefers-color-scheme: dark)')
let chosen = storedTheme()

/** The theme of this browser; `auto` follows the system. */
export function useTheme(): { theme: Theme; setTheme: (theme: Theme) => void } {
  return { theme: useSyncExternalStore(watch, () => chosen), setTheme }
}

/** Follows the system’s theme, and choices in other tabs. Called once per tab. */
export function followTheme(): void {
  system.addEventListener('change', applyTheme)
  window.addEventListener('storage', ({ key }) => {
    if (key !== STORAGE_KEY) return
    chosen = storedTheme()
    applyTheme()
  })
}

function setTheme(theme: Theme): void {
  chosen = theme
  try {
    localStorage.setItem(STORAGE_KEY, theme)
  } catch {
    // Without storage, the theme lasts as long as the page.
  }
  applyTheme()
}

function applyTheme(): void {
  const isDark = chosen === 'dark' || (chosen === 'auto' && system.matches)
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light'
  watchers.forEach((watcher) => watcher())
}

function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(STORAGE_KEY)
    return stored === 'light' || stored === 'dark' ? stored : 'auto'
  } catch {
    return 'auto'
  }
}

function watch(watcher: () => void): () => void {
  watchers.add(watcher)
  return () => void watchers.delete(watcher)
}
