import { queryOptions } from '@tanstack/react-query'
import type { Peer, PeerList } from '../../../../src/exchange/federation/peers/shapes.ts'
import { request, type ApiResponse } from '../../api.ts'

export type { Peer, PeerList }

const BASE = '/api/v1/abuse/peers'

export const federation = {
  add: async (url: string) =>
    (await request<ApiResponse<Peer>>('POST', BASE, { body: { url } })).data,
  approve: (id: string, fingerprint: string) =>
    request<unknown>('POST', `${BASE}/${id}/approve`, { body: { fingerprint } }),
  end: (id: string) => request<unknown>('DELETE', `${BASE}/${id}`),
}

export const peersQuery = queryOptions({
  queryKey: ['attacks', 'peers'],
  queryFn: async () => (await request<ApiResponse<PeerList>>('GET', BASE)).data,
})
