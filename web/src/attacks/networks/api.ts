import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  WatchedFindings,
  WatchedNetworkList,
} from '../../../../src/public-feeds/watched-networks/shapes.ts'
import { request, type ApiResponse } from '../../api.ts'

export type WatchedNetwork = Static<typeof WatchedNetworkList>['data'][number]
export type NetworkFindings = Static<typeof WatchedFindings>['data']
export type Finding = NetworkFindings['findings'][number]

const BASE = '/api/v1/abuse/watched-networks'

export const networks = {
  watch: (body: { cidr: string; label: string }) => request<unknown>('POST', BASE, { body }),
  remove: (id: string) => request<unknown>('DELETE', `${BASE}/${id}`),
}

export const WATCHED_KEY = ['attacks', 'watched'] as const

export const watchedQuery = queryOptions({
  queryKey: [...WATCHED_KEY, 'all'],
  queryFn: async () => (await request<ApiResponse<WatchedNetwork[]>>('GET', BASE)).data,
})

export const findingsQuery = (id: string) =>
  queryOptions({
    queryKey: [...WATCHED_KEY, 'one', id],
    queryFn: async () =>
      (await request<ApiResponse<NetworkFindings>>('GET', `${BASE}/${id}?limit=100`)).data,
  })
