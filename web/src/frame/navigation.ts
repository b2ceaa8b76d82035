import type { LinkProps } from '@tanstack/react-router'
import type { Account } from '../api.ts'
import type { IconName } from '../ui/brand/icons.tsx'
import { isAtLeast } from '../workspaces/roles.ts'
import type { Role } from '../api.ts'
import { keywords, screens, settings } from './messages.ts'

export type NavigationEntry = {
  to: NonNullable<LinkProps['to']>
  label: string
  icon: IconName
  /** The beginning of the label that the bottom bar of a phone has room for. */
  short?: string
  /** The key that opens the screen after `g`. */
  shortcut?: string
  /** Shown in the bottom bar of a phone; the others are under “More”. */
  isPrimary?: boolean
  /** Whether the number of problems is shown beside it. */
  countsProblems?: boolean
  /** The least powerful role that sees the entry; every role by default. */
  role?: Role
  /** Whether only administrators of the installation see it. */
  isForAdministrators?: boolean
  /** Further words by which people search it. */
  keywords?: string
  /** Paths of further screens that belong to it. */
  also?: string[]
}

/**
 * The things that people work on. Paths below /webhooks/ are the capture URLs, so the dashboard uses
 * /hooks.
 */
export const MODULES: NavigationEntry[] = [
  {
    to: '/home',
    label: screens.overview,
    icon: 'home',
    shortcut: 'o',
    isPrimary: true,
    also: ['/check'],
  },
  {
    to: '/alerts',
    label: screens.alerts,
    icon: 'bell',
    shortcut: 'n',
    isPrimary: true,
    countsProblems: true,
  },
  {
    to: '/domains',
    label: screens.domains,
    icon: 'globe',
    shortcut: 'd',
    isPrimary: true,
    also: ['/dmarc', '/mail-tests'],
  },
  {
    to: '/monitoring',
    label: screens.servers,
    short: screens.serversShort,
    icon: 'watch',
    shortcut: 'm',
    isPrimary: true,
    keywords: keywords.servers,
    also: ['/delisting', '/attacks/networks', '/addresses'],
  },
  { to: '/migrations', label: screens.migrations, icon: 'move', shortcut: 'i' },
  { to: '/attacks', label: screens.attacks, icon: 'shield', shortcut: 'a' },
  { to: '/hooks', label: screens.webhooks, icon: 'hook', shortcut: 'w' },
]

/** The side menu of the settings. */
export const SETTINGS_GROUPS: { title: string; entries: NavigationEntry[] }[] = [
  {
    title: settings.you,
    entries: [
      {
        to: '/account',
        label: screens.account,
        keywords: keywords.account,
        icon: 'person',
        shortcut: 'p',
      },
      { to: '/workspaces', label: settings.workspaces, icon: 'people' },
    ],
  },
  {
    title: settings.workspace,
    entries: [
      { to: '/workspace', label: screens.workspace, icon: 'settings', shortcut: 'k' },
      {
        to: '/workspace/members',
        label: settings.members,
        keywords: keywords.members,
        icon: 'people',
      },
      { to: '/workspace/invitations', label: settings.invitations, icon: 'mail', role: 'admin' },
      {
        to: '/tokens',
        label: screens.tokens,
        keywords: keywords.tokens,
        icon: 'key',
        shortcut: 't',
      },
      {
        to: '/alerts/channels',
        label: settings.channels,
        keywords: keywords.channels,
        icon: 'bell',
      },
      { to: '/alerts/rules', label: settings.rules, keywords: keywords.rules, icon: 'bell' },
      { to: '/alerts/digest', label: settings.digest, keywords: keywords.digest, icon: 'mail' },
      {
        to: '/workspace/audit',
        label: settings.audit,
        keywords: keywords.audit,
        icon: 'watch',
        role: 'admin',
      },
    ],
  },
  {
    title: settings.attacks,
    entries: [
      { to: '/attacks/relays', label: settings.relays, keywords: keywords.relays, icon: 'shield' },
      { to: '/attacks/mails', label: settings.abuseMails, icon: 'mail' },
      {
        to: '/attacks/federation',
        label: settings.federation,
        icon: 'globe',
        isForAdministrators: true,
      },
      {
        to: '/attacks/administration',
        label: settings.sharedList,
        icon: 'shield',
        isForAdministrators: true,
      },
    ],
  },
  {
    title: settings.installation,
    entries: [
      {
        to: '/administration',
        label: settings.health,
        icon: 'settings',
        shortcut: 'h',
        isForAdministrators: true,
      },
      {
        to: '/administration/accounts',
        label: settings.accounts,
        icon: 'people',
        isForAdministrators: true,
      },
      {
        to: '/administration/workspaces',
        label: settings.allWorkspaces,
        icon: 'people',
        isForAdministrators: true,
      },
      {
        to: '/administration/mail-providers',
        label: settings.mailProviders,
        keywords: keywords.mailProviders,
        icon: 'mail',
        isForAdministrators: true,
      },
      {
        to: '/administration/audit',
        label: settings.installationAudit,
        icon: 'watch',
        isForAdministrators: true,
      },
    ],
  },
]

const SETTINGS_PAGES = SETTINGS_GROUPS.flatMap(({ entries }) => entries)

/** The settings as one entry of the navigation. */
export const SETTINGS: NavigationEntry = {
  to: '/account',
  label: screens.settings,
  icon: 'settings',
  shortcut: 's',
  keywords: keywords.settings,
  also: SETTINGS_PAGES.map(({ to }) => to),
}

/** Lists below an entry of the navigation, which have shortcuts of their own. */
const LISTS: NavigationEntry[] = [
  { to: '/check', label: screens.check, icon: 'search', shortcut: 'c' },
  { to: '/dmarc', label: screens.dmarc, keywords: keywords.dmarc, icon: 'mail', shortcut: 'r' },
  {
    to: '/delisting',
    label: screens.delisting,
    keywords: keywords.delisting,
    icon: 'leave',
    shortcut: 'l',
  },
]

/** All screens that the command palette and the shortcuts open. */
export const ALL_SCREENS: NavigationEntry[] = [...MODULES, SETTINGS, ...LISTS, ...SETTINGS_PAGES]

/** The entry that a path belongs to: the one with the longest path above it. */
export function findEntry(
  entries: readonly NavigationEntry[],
  path: string,
): NavigationEntry | undefined {
  const isAbove = (above: string) => path === above || path.startsWith(`${above}/`)
  const lengthOf = ({ to, also = [] }: NavigationEntry) =>
    Math.max(0, ...[to, ...also].filter(isAbove).map((above) => above.length))
  const [best] = entries.toSorted((one, other) => lengthOf(other) - lengthOf(one))
  return best && lengthOf(best) > 0 ? best : undefined
}

/** Whether a path is a page of the settings. */
export function isSettingsPath(path: string): boolean {
  return findEntry([...MODULES, SETTINGS], path) === SETTINGS
}

/** Whether an account sees an entry. */
export function isVisible(entry: NavigationEntry, account: Account | null | undefined): boolean {
  if (entry.isForAdministrators) return account?.admin === true
  return !entry.role || (!!account && isAtLeast(account.role, entry.role))
}
