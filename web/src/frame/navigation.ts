import type { LinkProps } from '@tanstack/react-router'
import type { Account } from '../api.ts'
import type { IconName } from '../ui/brand/icons.tsx'
import { screens } from './messages.ts'

export type NavigationEntry = {
  to: NonNullable<LinkProps['to']>
  label: string
  icon: IconName
  /** The key that opens the screen after `g`. */
  shortcut?: string
  /** Shown in the bottom bar of a phone; the others are under “More”. */
  isPrimary?: boolean
  /** Whether an account sees the entry; every account by default. */
  isVisibleTo?: (account: Account) => boolean
}

/**
 * The screens of the modules, in this order: Domains, Check, DMARC, Monitoring, Delisting, Migrations,
 * Attacks, Webhooks. Paths below /webhooks/ are the capture URLs, so the dashboard uses /hooks.
 */
export const MODULES: NavigationEntry[] = [
  { to: '/home', label: screens.overview, icon: 'home', shortcut: 'o', isPrimary: true },
  { to: '/domains', label: screens.domains, icon: 'globe', shortcut: 'd', isPrimary: true },
  { to: '/check', label: screens.check, icon: 'search', shortcut: 'c' },
  { to: '/dmarc', label: screens.dmarc, icon: 'mail', shortcut: 'r' },
  { to: '/monitoring', label: screens.monitoring, icon: 'watch', shortcut: 'm' },
  { to: '/delisting', label: screens.delisting, icon: 'leave', shortcut: 'l' },
  { to: '/migrations', label: screens.migrations, icon: 'move', shortcut: 'i', isPrimary: true },
  { to: '/attacks', label: screens.attacks, icon: 'shield', shortcut: 'a' },
  { to: '/hooks', label: screens.webhooks, icon: 'hook', shortcut: 'w', isPrimary: true },
]

/** The screens of settings, in this order: API tokens, Workspace, Alerts, Account, Administration. */
export const SETTINGS_PAGES: NavigationEntry[] = [
  { to: '/tokens', label: screens.tokens, icon: 'key', shortcut: 't' },
  { to: '/workspace', label: screens.workspace, icon: 'people', shortcut: 'k' },
  { to: '/alerts', label: screens.alerts, icon: 'bell', shortcut: 'n' },
  { to: '/account', label: screens.account, icon: 'person', shortcut: 'p' },
  {
    to: '/administration',
    label: screens.administration,
    icon: 'settings',
    shortcut: 's',
    isVisibleTo: ({ admin }) => admin,
  },
]
