import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { domainsQuery } from '../../../dmarc/api.ts'
import { hostsQuery } from '../../../monitoring/api.ts'
import { endpointsQuery } from '../../../webhooks/api.ts'
import { palette as messages } from '../../messages.ts'
import type { PaletteItem } from '../palette-items.ts'

/** What people search by name: hosts, domains and webhook endpoints of the account. */
export function useObjectItems(): PaletteItem[] {
  return [...useHosts(), ...useDomains(), ...useEndpoints()]
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

function useEndpoints(): PaletteItem[] {
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
