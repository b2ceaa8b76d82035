import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  Appeal as AppealShape,
  AppealPage,
  AttackMap,
  CandidatePage,
  CheckAnswer,
  HoldAnswer,
  IssuedToken,
  NewExemption,
  RangePage,
  ServiceList,
  StatsAnswer,
  TokenList,
} from '../../../src/abuse/shapes.ts'
import { request, type ApiResponse } from '../api.ts'

export type AddressFacts = Static<typeof CheckAnswer>['data']
export type NetworkFacts = Static<typeof StatsAnswer>['data']
export type AttackMapFacts = Static<typeof AttackMap>['data']
export type Services = Static<typeof ServiceList>['data']['services']
export type ReportToken = Static<typeof TokenList>['data'][number]
export type NewReportToken = Static<typeof IssuedToken>
export type Appeal = Static<typeof AppealShape>
export type Appeals = Static<typeof AppealPage>['data']
export type Candidates = Static<typeof CandidatePage>['data']
export type Ranges = Static<typeof RangePage>['data']
export type Range = Ranges['ranges'][number]
export type Hold = Static<typeof HoldAnswer>['data']
export type NewRange = Static<typeof NewExemption>
/** Ranges that are never listed, and servers of our own. */
export type RangeList = 'whitelist' | 'sensors'

const BASE = '/api/v1/abuse'
/** Lines of one page of what administrators look through. */
const LIMIT = 20

const ask = async <T>(path: string) =>
  (await request<ApiResponse<T>>('GET', `${BASE}/${path}`)).data

export const attacks = {
  appeal: async (body: { ip: string; reason: string }) =>
    (await request<ApiResponse<Appeal>>('POST', `${BASE}/appeals`, { body })).data,
  makeToken: (label: string) =>
    request<NewReportToken>('POST', `${BASE}/tokens`, { body: { label } }),
  revokeToken: (id: string) => request<unknown>('DELETE', `${BASE}/tokens/${id}`),

  decide: (id: string, upheld: boolean) =>
    request<ApiResponse<Appeal>>('POST', `${BASE}/appeals/${id}/decision`, { body: { upheld } }),
  candidates: (page: number) => ask<Candidates>(`candidates?page=${page}&limit=100`),
  decideCandidate: (ip: string, list: boolean) =>
    request<unknown>('POST', `${BASE}/candidates/decisions`, { body: { ip, list } }),
  addRange: (list: RangeList, range: Partial<NewRange>) =>
    request<ApiResponse<Range>>('POST', `${BASE}/${list}`, { body: range }),
  removeRange: (list: RangeList, id: string) => request<unknown>('DELETE', `${BASE}/${list}/${id}`),
  approveHold: () => request<unknown>('POST', `${BASE}/export/hold/approve`),
}

export const addressQuery = (ip: string) =>
  queryOptions({
    queryKey: ['attacks', 'address', ip],
    queryFn: () => ask<AddressFacts>(`check?ip=${encodeURIComponent(ip)}`),
    staleTime: 10_000,
  })

export const networkQuery = queryOptions({
  queryKey: ['attacks', 'network'],
  queryFn: () => ask<NetworkFacts>('stats'),
  staleTime: 5_000,
})

/** @param day one UTC day; by default the last seven */
export const attackMapQuery = (day: string | undefined) =>
  queryOptions({
    queryKey: ['attacks', 'map', day],
    queryFn: () => ask<AttackMapFacts>(day === undefined ? 'networks' : `networks?day=${day}`),
    staleTime: 5_000,
  })

/** What can be attacked, with the words for it; it changes with a release only. */
export const servicesQuery = queryOptions({
  queryKey: ['attacks', 'services'],
  queryFn: async () => (await ask<{ services: Services }>('report')).services,
  staleTime: Infinity,
})

export const reportTokensQuery = queryOptions({
  queryKey: ['attacks', 'tokens'],
  queryFn: () => ask<ReportToken[]>('tokens'),
})

export const appealsQuery = (page: number) =>
  queryOptions({
    queryKey: ['attacks', 'appeals', page],
    queryFn: () => ask<Appeals>(`appeals?page=${page}&limit=${LIMIT}`),
  })

export const candidatesQuery = (page: number) =>
  queryOptions({
    queryKey: ['attacks', 'candidates', page],
    queryFn: () => attacks.candidates(page),
  })

export const rangesQuery = (list: RangeList, page: number) =>
  queryOptions({
    queryKey: ['attacks', list, page],
    queryFn: () => ask<Ranges>(`${list}?page=${page}&limit=${LIMIT}`),
  })

export const holdQuery = queryOptions({
  queryKey: ['attacks', 'hold'],
  queryFn: () => ask<Hold>('export/hold'),
})
