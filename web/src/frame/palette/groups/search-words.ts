import type { NavigationEntry } from '../../navigation.ts'

/** Words that people type for a screen, and that the interface does not use, by its path. */
const OTHER_WORDS: Partial<Record<NavigationEntry['to'], string>> = {
  '/monitoring': 'blacklists',
  '/monitoring/lists': 'blacklists',
  '/delisting': 'blacklists',
  '/attacks/list': 'blacklist',
  '/attacks/fleet': 'whitelist',
}

/** All further words by which a screen is found. */
export function searchWordsOf({ to, keywords }: NavigationEntry): string {
  return [keywords, OTHER_WORDS[to]].filter(Boolean).join(' ')
}
