import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { domainsQuery } from '../../../dmarc/api.ts'
import { hostsQuery, type Host } from '../../../monitoring/api.ts'
import { endpointsQuery } from '../../../webhooks/api.ts'
import { palette as messages } from '../../messages.ts'
import type { PaletteItem } from '../palette-items.ts'

const MAX_FOUND_HOSTS = 20

/** What people search by name: hosts, domains and webhook endpoints of the account. */
export function useObjectItems(text: string): PaletteItem[] {
  return [...useHosts(text), ...useDomains(), ...useEndpoints()]
}

/** Hosts on the first page, or else those that the service finds. */
function useKnownHosts(text: string): Host[] {
  const { data: first } = useQuery(hostsQuery())
  const isLong = first !== undefined && first.pagination.totalPages > 1
  const { data: found } = useQuery({
    ...hostsQuery({ q: text.trim(), limit: MAX_FOUND_HOSTS }),
    enabled: isLong && text.trim() !== '',
    placeholderData: keepPreviousData,
  })
  return (isLong ? found : first)?.rows ?? []
}

function useHosts(text: string): PaletteItem[] {
  const navigate = useNavigate()
  return useKnownHosts(text).map(({ id, host, label }) => ({
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
