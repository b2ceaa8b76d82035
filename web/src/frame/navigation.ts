import type { LinkProps } from '@tanstack/react-router'
import type { Account } from '../api.ts'
import type { IconName } from '../ui/brand/icons.tsx'

export type NavigationEntry = {
  to: NonNullable<LinkProps['to']>
  label: string
  icon: IconName
  /** Pressed after `g`, it leads there. */
  shortcut?: string
  /** A phone shows it at the bottom; the others are under “More”. */
  isPrimary?: boolean
  /** Who sees it: everybody, unless it says otherwise. */
  isVisibleTo?: (account: Account) => boolean
}

/**
 * What one works on. A room adds a line, in this order: Check, DMARC, Monitoring, Delisting, Migrations, Attacks, Webhooks.
 * Addresses below /webhooks/ belong to those who send there, so that room lives at /hooks.
 */
export const MODULES: NavigationEntry[] = [
  { to: '/home', label: 'Overview', icon: 'home', shortcut: 'o', isPrimary: true },
  { to: '/check', label: 'Check', icon: 'search', shortcut: 'c', isPrimary: true },
  { to: '/dmarc', label: 'DMARC', icon: 'mail', shortcut: 'd' },
  { to: '/monitoring', label: 'Monitoring', icon: 'watch', shortcut: 'm' },
  { to: '/delisting', label: 'Delisting', icon: 'leave', shortcut: 'l' },
  { to: '/migrations', label: 'Migrations', icon: 'move', shortcut: 'i', isPrimary: true },
  { to: '/attacks', label: 'Attacks', icon: 'shield', shortcut: 'a' },
  { to: '/hooks', label: 'Webhooks', icon: 'hook', shortcut: 'w', isPrimary: true },
]

/** What one sets up, in this order: API tokens, Alerts, Account, Administration. */
export const SETTINGS: NavigationEntry[] = [
  { to: '/tokens', label: 'API tokens', icon: 'key', shortcut: 't' },
  { to: '/alerts', label: 'Alerts', icon: 'bell', shortcut: 'n' },
  { to: '/account', label: 'Account', icon: 'person', shortcut: 'p' },
  {
    to: '/administration',
    label: 'Administration',
    icon: 'settings',
    shortcut: 's',
    isVisibleTo: ({ admin }) => admin,
  },
]
