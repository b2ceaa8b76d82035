import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { PublicFeed as PublicFeedShape } from '../../../../src/public-feeds/shapes.ts'
import { request, type ApiResponse } from '../../api.ts'

export type PublicFeed = Static<typeof PublicFeedShape>

const BASE = '/api/v1/abuse/feeds'

export const feeds = {
  enable: (id: string, enabled: boolean) =>
    request<unknown>('PUT', `${BASE}/${id}`, { body: { enabled } }),
  accept: (id: string) => request<unknown>('POST', `${BASE}/${id}/accept`),
}

export const feedsQuery = queryOptions({
  queryKey: ['attacks', 'feeds'],
  queryFn: async () => (await request<ApiResponse<PublicFeed[]>>('GET', BASE)).data,
})
