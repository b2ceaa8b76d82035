import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { delistingsQuery } from '../../../delisting/api.ts'
import { mailTestsQuery } from '../../../deliverability/api.ts'
import { domainsQuery } from '../../../dmarc/api.ts'
import { domainsQuery as domainPagesQuery } from '../../../domains/api.ts'
import { migrationsQuery } from '../../../migrations/api.ts'
import { batchesQuery } from '../../../migrations/batches/api.ts'
import { hostsQuery, type Host } from '../../../monitoring/api.ts'
import { endpointsQuery } from '../../../webhooks/api.ts'
import { palette as messages } from '../../messages.ts'
import type { PaletteItem } from '../palette-items.ts'

const MAX_FOUND = 20

/** Letters from which the service searches, too. */
const MIN_SEARCHED = 2

/** What people search by name: domains, hosts, webhook endpoints, and what moves mailboxes. */
export function useObjectItems(text: string): PaletteItem[] {
  return [
    ...useDomainPages(text),
    ...useHosts(text),
    ...useDomains(),
    ...useEndpoints(),
    ...useMigrations(text),
    ...useDelistings(text),
    ...useMailTests(text),
  ]
}

function useDomainPages(text: string): PaletteItem[] {
  const navigate = useNavigate()
  const q = text.trim()
  const { data } = useQuery({
    ...domainPagesQuery({ q, limit: MAX_FOUND }),
    enabled: q.length >= MIN_SEARCHED,
    placeholderData: keepPreviousData,
  })
  return (data?.domains ?? []).map(({ domain }) => ({
    name: domain,
    kind: messages.kinds.domainPage,
    icon: 'globe',
    open: () => void navigate({ to: '/domains/$domain', params: { domain } }),
  }))
}

function useMigrations(text: string): PaletteItem[] {
  const navigate = useNavigate()
  const q = text.trim()
  const enabled = q.length >= MIN_SEARCHED
  const { data: found } = useQuery({
    ...migrationsQuery({ q }),
    enabled,
    placeholderData: keepPreviousData,
  })
  const { data: batches } = useQuery({ ...batchesQuery(), enabled })
  return [
    ...(batches?.batches ?? []).map(({ id, name }): PaletteItem => ({
      id,
      name,
      kind: messages.kinds.batch,
      icon: 'move',
      open: () => void navigate({ to: '/migrations/batches/$id', params: { id } }),
    })),
    ...(found?.migrations ?? [])
      .slice(0, MAX_FOUND)
      .map(({ migrationId: id, srcUser, dstUser, srcHost, dstHost }): PaletteItem => ({
        id,
        name: `${srcUser} → ${dstUser}`,
        kind: messages.kinds.migration,
        icon: 'move',
        keywords: `${srcHost} ${dstHost}`,
        open: () => void navigate({ to: '/migrations/$id', params: { id } }),
      })),
  ]
}

function useDelistings(text: string): PaletteItem[] {
  const navigate = useNavigate()
  const enabled = text.trim().length >= MIN_SEARCHED
  const { data } = useQuery({ ...delistingsQuery({}), enabled })
  return (data?.processes ?? []).map(({ id, ip }) => ({
    id,
    name: messages.delistingOf(ip),
    kind: messages.kinds.delisting,
    icon: 'leave',
    keywords: ip,
    open: () => void navigate({ to: '/delisting/$id', params: { id } }),
  }))
}

/** The newest mail tests: older ones are deleted soon. */
function useMailTests(text: string): PaletteItem[] {
  const navigate = useNavigate()
  const enabled = text.trim().length >= MIN_SEARCHED
  const { data: tests } = useQuery({ ...mailTestsQuery(null), enabled })
  return (tests?.data ?? []).map(({ id, domain, subject }) => ({
    id,
    name: subject ?? domain ?? messages.kinds.mailTest,
    kind: messages.kinds.mailTest,
    icon: 'mail',
    keywords: domain ?? '',
    open: () => void navigate({ to: '/mail-tests/$id', params: { id } }),
  }))
}

/** Hosts on the first page, or else those that the service finds. */
function useKnownHosts(text: string): Host[] {
  const { data: first } = useQuery(hostsQuery())
  const isLong = first !== undefined && first.pagination.totalPages > 1
  const { data: found } = useQuery({
    ...hostsQuery({ q: text.trim(), limit: MAX_FOUND }),
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
