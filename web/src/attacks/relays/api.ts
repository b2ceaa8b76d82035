import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  Relay as RelayShape,
  RelayReportPage,
  RelaySettings,
  RelayTest,
} from '../../../../src/exchange/relays/shapes.ts'
import { request, type ApiResponse } from '../../api.ts'
import { searchOf } from '../../search.ts'

export type Relay = Static<typeof RelayShape>
export type RelayedReports = Static<typeof RelayReportPage>['data']
export type RelayedReport = RelayedReports['reports'][number]

const BASE = '/api/v1/abuse/relays'
const PAGE_ROWS = 50

export const relays = {
  change: (service: string, body: Static<typeof RelaySettings>) =>
    request<unknown>('PUT', `${BASE}/${service}`, { body }),
  remove: (service: string) => request<unknown>('DELETE', `${BASE}/${service}`),
  test: async (service: string) =>
    (await request<Static<typeof RelayTest>>('POST', `${BASE}/${service}/test`)).data.message,
}

export const RELAYS_KEY = ['attacks', 'relays'] as const

export const relaysQuery = queryOptions({
  queryKey: [...RELAYS_KEY, 'services'],
  queryFn: async () => (await request<ApiResponse<Relay[]>>('GET', BASE)).data,
})

export const relayedReportsQuery = (page: number) =>
  queryOptions({
    queryKey: [...RELAYS_KEY, 'reports', page],
    queryFn: async () => {
      const query = searchOf({ page, limit: PAGE_ROWS })
      return (await request<ApiResponse<RelayedReports>>('GET', `${BASE}/reports?${query}`)).data
    },
  })
