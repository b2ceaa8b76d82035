import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { domainsQuery } from '../dmarc/api.ts'
import { hostsQuery } from '../monitoring/api.ts'
import { accountQuery } from '../queries.ts'
import { endpointsQuery } from '../webhooks/api.ts'
import type { PaletteItem } from './palette-items.ts'
import { MODULES, SETTINGS } from './navigation.ts'
import { useVisibleEntries } from './use-visible-entries.ts'

/** All that can be gone to: screens, what is begun often, and what belongs to the person. */
export function usePaletteItems(): PaletteItem[] {
  const navigate = useNavigate()
  const entries = useVisibleEntries([...MODULES, ...SETTINGS])
  const screens = entries.map(({ label: name, icon, shortcut, to }): PaletteItem => {
    return { name, icon, kind: 'Screen', shortcut: shortcut && `g ${shortcut}`, open: () => void navigate({ to }) }
  })
  const begins: PaletteItem[] = [
    { name: 'New migration', kind: 'Begin', icon: 'plus', open: () => void navigate({ to: '/migrations/new' }) },
    { name: 'New delisting', kind: 'Begin', icon: 'plus', open: () => void navigate({ to: '/delisting/new' }) },
    { name: 'Export my data', kind: 'Account', icon: 'download', open: () => void navigate({ to: '/account' }) },
    { name: 'Erase my account', kind: 'Account', icon: 'person', open: () => void navigate({ to: '/account' }) },
    { name: 'API documentation', kind: 'Screen', icon: 'book', open: () => window.location.assign('/docs') },
  ]
  return [...screens, ...begins, ...useAdministration(), ...useHosts(), ...useDomains(), ...useHooks()]
}

/** What stands below administration. */
function useAdministration(): PaletteItem[] {
  const navigate = useNavigate()
  const { data: account } = useQuery(accountQuery)
  if (!account?.admin) return []
  const kind = 'Administration'
  return [
    { name: 'Accounts', kind, icon: 'person', open: () => void navigate({ to: '/administration/accounts' }) },
    {
      name: 'Audit log',
      kind,
      icon: 'settings',
      keywords: 'acts of administrators',
      open: () => void navigate({ to: '/administration/audit' }),
    },
  ]
}

function useHosts(): PaletteItem[] {
  const navigate = useNavigate()
  const { data: hosts = [] } = useQuery(hostsQuery)
  return hosts.map(({ id, host, label }) => ({
    name: host,
    kind: 'Monitored host',
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
    kind: 'DMARC reports',
    icon: 'mail',
    open: () => void navigate({ to: '/dmarc/$id', params: { id } }),
  }))
}

function useHooks(): PaletteItem[] {
  const navigate = useNavigate()
  const { data: endpoints = [] } = useQuery(endpointsQuery)
  return endpoints.map(({ id, label, token, url }) => ({
    name: label || token,
    kind: 'Webhook',
    icon: 'hook',
    keywords: url,
    open: () => void navigate({ to: '/hooks/$id', params: { id } }),
  }))
}
