import { queryOptions } from '@tanstack/react-query'
import type {
  Canary,
  CanaryDay,
  CanarySeed,
  NewCanary,
} from '../../../../src/deliverability/canary/shapes.ts'
import { request, type ApiResponse } from '../../api.ts'
import type { ImapServer, Secret } from '../../imap/account.ts'
import { searchOf } from '../../search.ts'

export type {
  Canary,
  CanaryDay,
  CanaryResult,
  CanarySeed,
} from '../../../../src/deliverability/canary/shapes.ts'

const PATH = '/api/v1/canaries'
const DAYS = 30

export const canariesQuery = (domain: string) =>
  queryOptions({
    queryKey: ['canaries', 'list', domain],
    queryFn: async ({ signal }) =>
      (await request<ApiResponse<Canary[]>>('GET', `${PATH}?${searchOf({ domain })}`, { signal }))
        .data,
  })

/** Outcomes of the last 30 days, by provider and day. */
export const canaryDaysQuery = (id: string) =>
  queryOptions({
    queryKey: ['canaries', 'days', id],
    queryFn: async ({ signal }) =>
      (
        await request<ApiResponse<CanaryDay[]>>('GET', `${PATH}/${id}/days?days=${DAYS}`, {
          signal,
        })
      ).data,
  })

export type NewSeed = ImapServer & Secret & { email: string }

export const canaries = {
  create: (body: NewCanary) => request<ApiResponse<Canary>>('POST', PATH, { body }),
  run: (id: string) => request('POST', `${PATH}/${id}/run`),
  enable: (id: string, enabled: boolean) =>
    request('PATCH', `${PATH}/${id}`, { body: { enabled } }),
  remove: (id: string) => request('DELETE', `${PATH}/${id}`),
  addSeed: (id: string, body: NewSeed) =>
    request<ApiResponse<CanarySeed>>('POST', `${PATH}/${id}/seeds`, { body }),
  removeSeed: (id: string, seedId: string) => request('DELETE', `${PATH}/${id}/seeds/${seedId}`),
}
