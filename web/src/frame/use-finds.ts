import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { domainsQuery } from '../dmarc/api.ts'
import { hostsQuery } from '../monitoring/api.ts'
import { accountQuery } from '../queries.ts'
import { endpointsQuery } from '../webhooks/api.ts'
import type { Find } from './finds.ts'
import { ROOMS, SETTINGS } from './navigation.ts'
import { useEntries } from './use-entries.ts'

/** All that can be gone to: screens, what is begun often, and what belongs to the person. */
export function useFinds(): Find[] {
  const navigate = useNavigate()
  const entries = useEntries([...ROOMS, ...SETTINGS])
  const screens = entries.map(({ label: name, icon, stroke, to }): Find => {
    return { name, icon, kind: 'Screen', stroke: stroke && `g ${stroke}`, go: () => void navigate({ to }) }
  })
  const begins: Find[] = [
    { name: 'New migration', kind: 'Begin', icon: 'plus', go: () => void navigate({ to: '/migrations/new' }) },
    { name: 'New delisting', kind: 'Begin', icon: 'plus', go: () => void navigate({ to: '/delisting/new' }) },
    { name: 'Export my data', kind: 'Account', icon: 'download', go: () => void navigate({ to: '/account' }) },
    { name: 'Erase my account', kind: 'Account', icon: 'person', go: () => void navigate({ to: '/account' }) },
    { name: 'API documentation', kind: 'Screen', icon: 'book', go: () => window.location.assign('/docs') },
  ]
  return [...screens, ...begins, ...useAdministration(), ...useHosts(), ...useDomains(), ...useHooks()]
}

/** What stands below administration. */
function useAdministration(): Find[] {
  const navigate = useNavigate()
  const { data: account } = useQuery(accountQuery)
  if (!account?.admin) return []
  const kind = 'Administration'
  return [
    { name: 'Accounts', kind, icon: 'person', go: () => void navigate({ to: '/administration/accounts' }) },
    {
      name: 'Audit log',
      kind,
      icon: 'settings',
      words: 'acts of administrators',
      go: () => void navigate({ to: '/administration/audit' }),
    },
  ]
}

function useHosts(): Find[] {
  const navigate = useNavigate()
  const { data: hosts = [] } = useQuery(hostsQuery)
  return hosts.map(({ id, host, label }) => ({
    name: host,
    kind: 'Monitored host',
    icon: 'watch',
    words: label,
    go: () => void navigate({ to: '/monitoring/$id', params: { id } }),
  }))
}

function useDomains(): Find[] {
  const navigate = useNavigate()
  const { data: domains = [] } = useQuery(domainsQuery)
  return domains.map(({ id, domain }) => ({
    name: domain,
    kind: 'DMARC reports',
    icon: 'mail',
    go: () => void navigate({ to: '/dmarc/$id', params: { id } }),
  }))
}

function useHooks(): Find[] {
  const navigate = useNavigate()
  const { data: endpoints = [] } = useQuery(endpointsQuery)
  return endpoints.map(({ id, label, token, url }) => ({
    name: label || token,
    kind: 'Webhook',
    icon: 'hook',
    words: url,
    go: () => void navigate({ to: '/hooks/$id', params: { id } }),
  }))
}
