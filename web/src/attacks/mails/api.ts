import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  AbuseMailDetail,
  AbuseMailPage,
  AbuseMailSettings as SettingsShape,
  OptOutPage,
} from '../../../../src/exchange/abuse-mails/shapes.ts'
import { request, type ApiResponse } from '../../api.ts'
import { searchOf } from '../../search.ts'

export type AbuseMailSettings = Static<typeof SettingsShape>
export type AbuseMails = Static<typeof AbuseMailPage>['data']
export type AbuseMail = AbuseMails['mails'][number]
export type AbuseMailText = Static<typeof AbuseMailDetail>['data']

export type OptOuts = Static<typeof OptOutPage>['data']
export type OptOut = OptOuts['optOuts'][number]

const BASE = '/api/v1/abuse/mails'
const PAGE_ROWS = 50

const ask = async <T>(path: string) => (await request<ApiResponse<T>>('GET', `${BASE}${path}`)).data

export const abuseMails = {
  change: (mode: AbuseMailSettings['mode']) =>
    request<unknown>('PUT', `${BASE}/settings`, { body: { mode } }),
  addOptOut: (email: string) => request<unknown>('POST', `${BASE}/opt-outs`, { body: { email } }),
  removeOptOut: (id: string) => request<unknown>('DELETE', `${BASE}/opt-outs/${id}`),
}

export const ABUSE_MAILS_KEY = ['attacks', 'mails'] as const

export const mailSettingsQuery = queryOptions({
  queryKey: [...ABUSE_MAILS_KEY, 'settings'],
  queryFn: () => ask<AbuseMailSettings>('/settings'),
})

export const mailsQuery = (page: number) =>
  queryOptions({
    queryKey: [...ABUSE_MAILS_KEY, 'all', page],
    queryFn: () => ask<AbuseMails>(`?${searchOf({ page, limit: PAGE_ROWS })}`),
  })

export const optOutsQuery = (page: number) =>
  queryOptions({
    queryKey: [...ABUSE_MAILS_KEY, 'opt-outs', page],
    queryFn: () => ask<OptOuts>(`/opt-outs?${searchOf({ page, limit: PAGE_ROWS })}`),
  })

export const mailTextQuery = (id: string) =>
  queryOptions({
    queryKey: [...ABUSE_MAILS_KEY, 'one', id],
    queryFn: () => ask<AbuseMailText>(`/${id}`),
  })
