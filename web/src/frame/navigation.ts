import type { LinkProps } from '@tanstack/react-router'
import type { IconName } from '../ui/icons.tsx'

export type Entry = { to: NonNullable<LinkProps['to']>; label: string; icon: IconName }

/** What the navigation lists, in this order; a phone shows the first four. */
export const ENTRIES: Entry[] = [
  { to: '/home', label: 'Start', icon: 'home' },
  { to: '/check', label: 'Check', icon: 'search' },
  { to: '/tokens', label: 'API tokens', icon: 'key' },
  { to: '/account', label: 'Account', icon: 'person' },
]
