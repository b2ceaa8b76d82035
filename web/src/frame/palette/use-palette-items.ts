import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { domainsQuery } from '../../dmarc/api.ts'
import { hostsQuery } from '../../monitoring/api.ts'
import { accountQuery } from '../../queries.ts'
import { endpointsQuery } from '../../webhooks/api.ts'
import { workspacesQuery } from '../../workspaces/api.ts'
import { palette as workspaceMessages } from '../../workspaces/messages.ts'
import { useHasRole } from '../../workspaces/roles.ts'
import { useSwitchWorkspace } from '../../workspaces/use-switch-workspace.ts'
import type { PaletteItem } from './palette-items.ts'
import { MODULES, SETTINGS_PAGES } from '../navigation.ts'
import { useVisibleEntries } from '../use-visible-entries.ts'
import { frame, palette as messages } from '../messages.ts'

/** All entries: screens, frequent actions, and the objects of the account. */
export function usePaletteItems(): PaletteItem[] {
  const navigate = useNavigate()
  const entries = useVisibleEntries([...MODULES, ...SETTINGS_PAGES])
  const screens = entries.map(({ label: name, icon, shortcut, to }): PaletteItem => {
    return {
      name,
      icon,
      kind: messages.kinds.screen,
      shortcut: shortcut && `g ${shortcut}`,
      open: () => void navigate({ to }),
    }
  })
  const actions: PaletteItem[] = [
    {
      name: messages.newMigration,
      kind: messages.kinds.action,
      icon: 'plus',
      open: () => void navigate({ to: '/migrations/new' }),
    },
    {
      name: messages.newDelisting,
      kind: messages.kinds.action,
      icon: 'plus',
      open: () => void navigate({ to: '/delisting/new' }),
    },
    {
      name: messages.exportData,
      kind: messages.kinds.account,
      icon: 'download',
      open: () => void navigate({ to: '/account' }),
    },
    {
      name: messages.deleteAccount,
      kind: messages.kinds.account,
      icon: 'person',
      open: () => void navigate({ to: '/account' }),
    },
    {
      name: frame.documentation,
      kind: messages.kinds.screen,
      icon: 'book',
      open: () => window.location.assign('/docs'),
    },
  ]
  return [
    ...screens,
    ...actions,
    ...useWorkspaces(),
    ...useAdministration(),
    ...useHosts(),
    ...useDomains(),
    ...useHooks(),
  ]
}

/** The other workspaces, and the members of the present one. */
function useWorkspaces(): PaletteItem[] {
  const navigate = useNavigate()
  const switchWorkspace = useSwitchWorkspace()
  const isAdmin = useHasRole('admin')
  const { data: all = [] } = useQuery(workspacesQuery)
  const { kind } = workspaceMessages
  const others = all.filter(({ isCurrent, deleteAfter }) => !isCurrent && deleteAfter === null)
  return [
    {
      name: workspaceMessages.members,
      kind,
      icon: 'people',
      open: () => void navigate({ to: '/workspace/members' }),
    },
    ...(isAdmin
      ? [
          {
            name: workspaceMessages.invite,
            kind,
            icon: 'plus' as const,
            open: () => void navigate({ to: '/workspace/invitations' }),
          },
        ]
      : []),
    ...others.map(({ id, name }): PaletteItem => ({
      id,
      name: workspaceMessages.switchTo(name),
      kind,
      icon: 'people',
      open: () => void switchWorkspace(id),
    })),
  ]
}

/** The screens of the administration. */
function useAdministration(): PaletteItem[] {
  const navigate = useNavigate()
  const { data: account } = useQuery(accountQuery)
  if (!account?.admin) return []
  const kind = messages.kinds.administration
  return [
    {
      name: messages.accounts,
      kind,
      icon: 'person',
      open: () => void navigate({ to: '/administration/accounts' }),
    },
    {
      name: messages.workspaces,
      kind,
      icon: 'people',
      open: () => void navigate({ to: '/administration/workspaces' }),
    },
    {
      name: messages.auditLog,
      kind,
      icon: 'settings',
      keywords: messages.auditKeywords,
      open: () => void navigate({ to: '/administration/audit' }),
    },
  ]
}

function useHosts(): PaletteItem[] {
  const navigate = useNavigate()
  const { data: hosts = [] } = useQuery(hostsQuery)
  return hosts.map(({ id, host, label }) => ({
    name: host,
    kind: messages.kinds.host,
    icon: 'watch',
    keywords: label,
    open: () => void navigate({ to: '/monitoring/$id', params: { id } }),
  }))
}

function useDomains(): PaletteItem[] {
  const navigate = useNavigate()
  const { data: domains = [] } = useQuery(domainsQuery)
  return domains.map(({ id, domain }) => ({
    name: domain,
    kind: messages.kinds.domain,
    icon: 'mail',
    open: () => void navigate({ to: '/dmarc/$id', params: { id } }),
  }))
}

function useHooks(): PaletteItem[] {
  const navigate = useNavigate()
  const { data: endpoints = [] } = useQuery(endpointsQuery)
  return endpoints.map(({ id, label, token, url }) => ({
    name: label || token,
    kind: messages.kinds.endpoint,
    icon: 'hook',
    keywords: url,
    open: () => void navigate({ to: '/hooks/$id', params: { id } }),
  }))
}
