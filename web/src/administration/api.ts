import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  Account as AccountShape,
  AccountChange,
  AccountPage,
  AccountQuery,
  AccountUsagePage,
  AuditEntry,
  AuditPage,
  NewAccount,
} from '../../../src/accounts/shapes.ts'
import type { InstalledWorkspacePage } from '../../../src/accounts/workspaces/shapes.ts'
import type { Health as HealthShape } from '../../../src/diagnostics/shapes.ts'
import { request, type ApiResponse } from '../api.ts'
import { searchOf } from '../search.ts'

export type InstalledWorkspaces = Static<typeof InstalledWorkspacePage>
export type InstalledWorkspaceRow = InstalledWorkspaces['workspaces'][number]
export type ManagedAccount = Static<typeof AccountShape>
export type AccountList = Static<typeof AccountPage>
export type AccountFilter = Partial<Static<typeof AccountQuery>>
export type AccountEdit = Static<typeof AccountChange>
export type AuditLogPage = Static<typeof AuditPage>
export type AuditEntryRow = Static<typeof AuditEntry>
export type Health = Static<typeof HealthShape>

/** Filters the audit log by a text in any part of an entry, and by the person. */
export type AuditFilter = {
  q?: string | undefined
  actor?: string | undefined
  page?: number | undefined
  limit?: number
}

const ACCOUNTS = '/api/v1/accounts'

export const administration = {
  /** Checks the resolvers and blocklists now, which takes a few seconds. */
  health: async () => (await request<ApiResponse<Health>>('GET', '/api/v1/service/health')).data,
  accounts: async (filter: AccountFilter) =>
    (
      await request<ApiResponse<AccountList>>(
        'GET',
        `${ACCOUNTS}?${searchOf({ ...filter, limit: 100 })}`,
      )
    ).data,
  usage: async (filter: AccountFilter) =>
    (
      await request<ApiResponse<Static<typeof AccountUsagePage>>>(
        'GET',
        `${ACCOUNTS}/usage?${searchOf({ ...filter, limit: 100 })}`,
      )
    ).data,
  workspaces: async (page: number) =>
    (
      await request<ApiResponse<InstalledWorkspaces>>(
        'GET',
        `${ACCOUNTS}/workspaces?page=${page}&limit=20`,
      )
    ).data,
  changeWorkspacePlan: (id: string, plan: ManagedAccount['plan']) =>
    request<unknown>('PATCH', `${ACCOUNTS}/workspaces/${id}`, { body: { plan } }),
  audit: async (filter: AuditFilter) =>
    (
      await request<ApiResponse<Static<typeof AuditPage>>>(
        'GET',
        `/api/v1/audit?${searchOf({ ...filter })}`,
      )
    ).data,
  add: async (wanted: Static<typeof NewAccount>) =>
    (await request<ApiResponse<ManagedAccount>>('POST', ACCOUNTS, { body: wanted })).data,
  change: (id: string, change: AccountEdit) =>
    request<unknown>('PATCH', `${ACCOUNTS}/${id}`, { body: change }),
  remove: (id: string) => request<unknown>('DELETE', `${ACCOUNTS}/${id}`),
}

/** Milliseconds between two health checks of an open page. */
const HEALTH_REFRESH_MS = 30_000

export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: administration.health,
  refetchInterval: HEALTH_REFRESH_MS,
})

export const accountsQuery = (filter: AccountFilter) =>
  queryOptions({ queryKey: ['people', filter], queryFn: () => administration.accounts(filter) })

/** Storage used by each account of a page of the list. */
export const accountsUsageQuery = (filter: AccountFilter) =>
  queryOptions({
    queryKey: ['people', 'usage', filter],
    queryFn: () => administration.usage(filter),
  })

/** All workspaces of the service. */
export const installedWorkspacesQuery = (page: number) =>
  queryOptions({
    queryKey: ['people', 'workspaces', page],
    queryFn: () => administration.workspaces(page),
  })

export const auditQuery = (filter: AuditFilter) =>
  queryOptions({ queryKey: ['acts', filter], queryFn: () => administration.audit(filter) })
