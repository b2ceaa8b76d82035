import type { LinkProps } from '@tanstack/react-router'
import type { Account } from '../api.ts'
import type { IconName } from '../ui/brand/icons.tsx'

export type Entry = {
  to: NonNullable<LinkProps['to']>
  label: string
  icon: IconName
  /** Pressed after `g`, it leads there. */
  stroke?: string
  /** A phone shows it at the bottom; the others are under “More”. */
  near?: boolean
  /** Who sees it: everybody, unless it says otherwise. */
  isFor?: (account: Account) => boolean
}

/**
 * What one works on. A room adds a line, in this order: Check, DMARC, Monitoring, Delisting, Migrations, Attacks, Webhooks.
 * Addresses below /webhooks/ belong to those who send there, so that room lives at /hooks.
 */
export const ROOMS: Entry[] = [
  { to: '/home', label: 'Overview', icon: 'home', stroke: 'o', near: true },
  { to: '/check', label: 'Check', icon: 'search', stroke: 'c', near: true },
  { to: '/dmarc', label: 'DMARC', icon: 'mail', stroke: 'd' },
  { to: '/monitoring', label: 'Monitoring', icon: 'watch', stroke: 'm' },
  { to: '/delisting', label: 'Delisting', icon: 'leave', stroke: 'l' },
  { to: '/migrations', label: 'Migrations', icon: 'move', stroke: 'i', near: true },
  { to: '/attacks', label: 'Attacks', icon: 'shield', stroke: 'a' },
  { to: '/hooks', label: 'Webhooks', icon: 'hook', stroke: 'w', near: true },
]

/** What one sets up, in this order: API tokens, Alerts, Account, Administration. */
export const SETTINGS: Entry[] = [
  { to: '/tokens', label: 'API tokens', icon: 'key', stroke: 't' },
  { to: '/alerts', label: 'Alerts', icon: 'bell', stroke: 'n' },
  { to: '/account', label: 'Account', icon: 'person', stroke: 'p' },
  { to: '/administration', label: 'Administration', icon: 'settings', stroke: 's', isFor: ({ admin }) => admin },
]
