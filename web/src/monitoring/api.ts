import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { ImportReport } from '../../../src/http/shapes.ts'
import type { HostList, HostsQuery } from '../../../src/monitoring/list/shapes.ts'
import type {
  History,
  HistoryQuery,
  HostChanges,
  ListChoice,
  MonitoredHost,
  MonitoredHostDetail,
  NewHost,
  NewHosts,
  HostTimeline as HostTimelineShape,
  WatchedList,
  WorkspaceTimeline as WorkspaceTimelineShape,
} from '../../../src/monitoring/shapes.ts'
import { request, type ApiResponse } from '../api.ts'
import { pageWithoutDeleted } from '../deletions.ts'
import { searchOf } from '../search.ts'
import { utcDayRange } from '../ui/text/dates.ts'

/** Hosts on one page. */
const PAGE_HOSTS = 100

export type HostFilter = Static<typeof HostsQuery>
export type HostCounts = NonNullable<Static<typeof HostList>['counts']>
/** `counts` are of all hosts of the workspace. */
export type HostPage = {
  rows: Host[]
  pagination: NonNullable<Static<typeof HostList>['pagination']>
  counts: HostCounts
}
export type Host = Static<typeof MonitoredHost>
export type HostDetail = Static<typeof MonitoredHostDetail>
export type Listing = HostDetail['listings'][number]
export type HostChange = Static<typeof History>['events'][number]
export type MonitoredKind = NonNullable<Static<typeof HistoryQuery>['kind']>
export type HostSettings = Static<typeof HostChanges>
export type MonitoredList = Static<typeof WatchedList>
export type HostTimeline = Static<typeof HostTimelineShape>
export type WorkspaceTimeline = Static<typeof WorkspaceTimelineShape>
export type TimelineSpan = HostTimeline['periods'][number]
export type ListMode = MonitoredList['mode']

/** Filter and page of a host’s history. */
export type HistorySearch = {
  kind?: MonitoredKind | undefined
  page?: number | undefined
  /** Changes on this UTC day. */
  day?: string | undefined
}

const BASE = '/api/v1/monitoring'

export const monitoring = {
  /** One page, hosts with problems first unless ordered otherwise. */
  hosts: async (filter: HostFilter): Promise<HostPage> => {
    const search = searchOf({ sort: 'status', limit: PAGE_HOSTS, ...filter })
    const { data, pagination, counts } = await request<Required<Static<typeof HostList>>>(
      'GET',
      `${BASE}/hosts?${search}`,
    )
    return { rows: data, pagination, counts }
  },
  host: async (id: string) =>
    (await request<ApiResponse<HostDetail>>('GET', `${BASE}/hosts/${id}`)).data,
  add: async (wanted: Static<typeof NewHost>) =>
    (await request<ApiResponse<HostDetail>>('POST', `${BASE}/hosts`, { body: wanted })).data,
  addSeveral: async (entries: Static<typeof NewHosts>['entries']) =>
    (
      await request<ApiResponse<ImportReport>>('POST', `${BASE}/hosts/import`, {
        body: { entries },
      })
    ).data,
  change: async (id: string, changes: HostSettings) =>
    (await request<ApiResponse<HostDetail>>('PATCH', `${BASE}/hosts/${id}`, { body: changes }))
      .data,
  remove: (id: string) => request<unknown>('DELETE', `${BASE}/hosts/${id}`),
  /** Runs all checks; takes some seconds. */
  check: async (id: string) =>
    (await request<ApiResponse<HostDetail>>('POST', `${BASE}/hosts/${id}/check`)).data,
  history: async (id: string, { day, ...filter }: HistorySearch) => {
    const search = searchOf({ ...filter, limit: 20, ...(day && utcDayRange(day)) })
    return (
      await request<ApiResponse<Static<typeof History>>>(
        'GET',
        `${BASE}/hosts/${id}/history?${search}`,
      )
    ).data
  },
  timeline: async (id: string) =>
    (await request<ApiResponse<HostTimeline>>('GET', `${BASE}/hosts/${id}/timeline`)).data,
  workspaceTimeline: async () =>
    (await request<ApiResponse<WorkspaceTimeline>>('GET', `${BASE}/timeline`)).data,
  lists: async () => (await request<ApiResponse<MonitoredList[]>>('GET', `${BASE}/lists`)).data,
  choose: async (dnsbl: string, mode: Static<typeof ListChoice>['mode']) =>
    (
      await request<ApiResponse<MonitoredList>>(
        'PUT',
        `${BASE}/lists/${encodeURIComponent(dnsbl)}`,
        { body: { mode } },
      )
    ).data,
}

/** The first part of the keys of all pages of hosts. */
export const HOSTS_KEY = ['monitoring', 'hosts']

export const hostsQuery = (filter: HostFilter = {}) =>
  queryOptions({
    queryKey: [...HOSTS_KEY, filter],
    queryFn: async () => pageWithoutDeleted(await monitoring.hosts(filter)),
  })

export const hostQuery = (id: string) =>
  queryOptions({
    queryKey: ['monitoring', 'host', id],
    queryFn: () => monitoring.host(id),
  })

/** @param lastCheckAt of the host: a new check may have added changes */
export const historyQuery = (id: string, filter: HistorySearch, lastCheckAt: string | null) =>
  queryOptions({
    queryKey: ['monitoring', 'history', id, filter, lastCheckAt],
    queryFn: () => monitoring.history(id, filter),
  })

export const hostTimelineQuery = (id: string) =>
  queryOptions({
    queryKey: ['monitoring', 'timeline', id],
    queryFn: () => monitoring.timeline(id),
  })

export const workspaceTimelineQuery = queryOptions({
  queryKey: ['monitoring', 'timeline'],
  queryFn: monitoring.workspaceTimeline,
})

export const listsQuery = queryOptions({
  queryKey: ['monitoring', 'lists'],
  queryFn: monitoring.lists,
})
