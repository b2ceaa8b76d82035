import { queryOptions } from '@tanstack/react-query'
import type { PostmasterAccess } from '../../../../src/deliverability/postmaster/shapes.ts'
import type { SndsAccess, StartedSndsSignIn } from '../../../../src/deliverability/snds/shapes.ts'
import type { SpamRates } from '../../../../src/deliverability/spam-rates/shapes.ts'
import { request, type ApiResponse } from '../../api.ts'
import { searchOf } from '../../search.ts'

export type {
  GoogleRequirement,
  PostmasterAccess,
  PostmasterDay,
} from '../../../../src/deliverability/postmaster/shapes.ts'
export type { SndsAccess, SndsDay } from '../../../../src/deliverability/snds/shapes.ts'
export type { ProviderRates, SpamRates } from '../../../../src/deliverability/spam-rates/shapes.ts'

const DAYS = 30

async function get<T>(path: string, signal: AbortSignal): Promise<T> {
  return (await request<ApiResponse<T>>('GET', `/api/v1/${path}`, { signal })).data
}

/** What providers said of a domain in the last 30 days. */
export const spamRatesQuery = (domain: string) =>
  queryOptions({
    queryKey: ['provider-statistics', 'rates', domain],
    queryFn: ({ signal }) =>
      get<SpamRates>(`spam-rates?${searchOf({ domain, days: DAYS })}`, signal),
  })

export const postmasterQuery = queryOptions({
  queryKey: ['provider-statistics', 'postmaster'],
  queryFn: ({ signal }) => get<PostmasterAccess>('postmaster', signal),
})

export const sndsQuery = queryOptions({
  queryKey: ['provider-statistics', 'snds'],
  queryFn: ({ signal }) => get<SndsAccess>('snds', signal),
})

export type NewSndsLinks = { dataLink: string; statusLink?: string; approvedOn?: string }

export const statistics = {
  connectGoogle: (credentialId: string) =>
    request('POST', '/api/v1/postmaster', { body: { credentialId } }),
  disconnectGoogle: () => request('DELETE', '/api/v1/postmaster'),
  startSndsSignIn: async () =>
    (await request<ApiResponse<StartedSndsSignIn>>('POST', '/api/v1/snds/sign-in')).data,
  answerSndsSignIn: (address: string) =>
    request('POST', '/api/v1/snds/sign-in/answer', { body: { address } }),
  enterLinks: (body: NewSndsLinks) => request('PUT', '/api/v1/snds/links', { body }),
  approve: (approvedOn: string) => request('PATCH', '/api/v1/snds', { body: { approvedOn } }),
  disconnectSnds: () => request('DELETE', '/api/v1/snds'),
}
