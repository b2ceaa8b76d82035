import { useNavigate } from '@tanstack/react-router'
import { inService } from '../../../base-path.ts'
import { ALL_SCREENS, type NavigationEntry } from '../../navigation.ts'
import { useVisibleEntries } from '../../use-visible-entries.ts'
import { inGuide } from '../../guide-page.ts'
import { frame, palette as messages } from '../../messages.ts'
import type { PaletteItem } from '../palette-items.ts'
import { lists } from './messages.ts'
import { searchWordsOf } from './search-words.ts'

/** Screens that the navigation leads to in two steps. */
export const FURTHER_SCREENS: NavigationEntry[] = [
  { to: '/dmarc/rejected', label: lists.rejected, icon: 'mail' },
  { to: '/dmarc/mailboxes', label: lists.mailboxes, icon: 'mail' },
  { to: '/mail-tests', label: lists.mailTests, keywords: lists.mailTestsKeywords, icon: 'mail' },
  {
    to: '/monitoring/lists',
    label: lists.blocklists,
    keywords: lists.blocklistsKeywords,
    icon: 'watch',
  },
  {
    to: '/attacks/networks',
    label: lists.networks,
    keywords: lists.networksKeywords,
    icon: 'watch',
  },
  { to: '/attacks/servers', label: lists.servers, icon: 'shield' },
  { to: '/attacks/connect', label: lists.connect, keywords: lists.connectKeywords, icon: 'shield' },
  { to: '/attacks/fleet', label: lists.bans, keywords: lists.bansKeywords, icon: 'shield' },
  { to: '/attacks/list', label: lists.list, keywords: lists.listKeywords, icon: 'shield' },
  { to: '/attacks/feeds', label: lists.feeds, keywords: lists.feedsKeywords, icon: 'shield' },
  { to: '/migrations/batches', label: lists.batches, icon: 'move' },
  {
    to: '/migrations/sign-ins',
    label: lists.signIns,
    keywords: lists.signInsKeywords,
    icon: 'key',
  },
  { to: '/alerts/history', label: lists.history, keywords: lists.historyKeywords, icon: 'bell' },
]

const SCREENS = [...ALL_SCREENS, ...FURTHER_SCREENS]

/** The screens of the navigation, the guide and the API documentation. */
export function useScreenItems(): PaletteItem[] {
  const navigate = useNavigate()
  const entries = useVisibleEntries(SCREENS)
  const kind = messages.kinds.screen
  return [
    ...entries.map((entry): PaletteItem => {
      const { label: name, icon, shortcut, to } = entry
      return {
        name,
        icon,
        kind,
        shortcut: shortcut && `g ${shortcut}`,
        keywords: searchWordsOf(entry),
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
