import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  AggregateRecord,
  AggregateReport,
  DmarcDomain,
  ImportedDomains as ImportedDomainsShape,
  Mailbox as MailboxShape,
  NewMailbox,
  PublishedDomain,
  RecordPage,
  RejectedPage,
  SenderDays as SenderDaysShape,
  ReportPage,
  SourceDetail as SourceDetailShape,
  SourceRecordPage,
  Summary as SummaryShape,
  TlsReportPage,
  Uploaded as UploadedShape,
} from '../../../src/dmarc/shapes.ts'
import { request, type ApiResponse } from '../api.ts'
import { withoutDeleted } from '../deletions.ts'
import { searchOf } from '../search.ts'
import { utcDayRange } from '../ui/text/dates.ts'
import { inWorkspace } from '../workspace-choice.ts'
import { periodQuery, type Period, type ReportFilter, type SourceFilter } from './search.ts'

export type ReportDomain = Static<typeof DmarcDomain>
export type PublishedDomain = Static<typeof PublishedDomain>
export type Summary = Static<typeof SummaryShape>['data']
export type Source = Summary['sources'][number]
export type SenderDays = Static<typeof SenderDaysShape>['data']
export type Sender = Summary['senders'][number]
export type SourceGroup = Source['group']
export type SourceDetail = Static<typeof SourceDetailShape>['data']
export type Report = Static<typeof AggregateReport>
export type ReportRecord = Static<typeof AggregateRecord>
export type TlsReport = Static<typeof TlsReportPage>['data']['reports'][number]
export type RejectedItem = Static<typeof RejectedPage>['data']['rejected'][number]
export type UploadResult = Static<typeof UploadedShape>['data']
export type ImportedDomains = Static<typeof ImportedDomainsShape>
export type ReportMailbox = Static<typeof MailboxShape>

const BASE = '/api/v1/dmarc'

export const dmarc = {
  domains: async (query = '') =>
    (await request<ApiResponse<ReportDomain[]>>('GET', `${BASE}/domains${query}`)).data,
  domain: async (id: string) =>
    (await request<ApiResponse<PublishedDomain>>('GET', `${BASE}/domains/${id}`)).data,
  register: async (domain: string) =>
    (await request<ApiResponse<PublishedDomain>>('POST', `${BASE}/domains`, { body: { domain } }))
      .data,
  registerSeveral: async (entries: { domain: string }[]) =>
    (
      await request<ApiResponse<ImportedDomains>>('POST', `${BASE}/domains/import`, {
        body: { entries },
      })
    ).data,
  verify: async (id: string) =>
    (await request<ApiResponse<PublishedDomain>>('POST', `${BASE}/domains/${id}/verify`)).data,
  remove: (id: string) => request<unknown>('DELETE', `${BASE}/domains/${id}`),
  changeLabels: (id: string, labels: string[]) =>
    request<unknown>('PATCH', `${BASE}/domains/${id}`, { body: { labels } }),
  summary: async (id: string, period: Period) =>
    (
      await request<ApiResponse<Summary>>(
        'GET',
        `${BASE}/domains/${id}/summary?${searchOf(periodQuery(period))}`,
      )
    ).data,
  senderDays: async (id: string, period: Period) =>
    (
      await request<ApiResponse<SenderDays>>(
        'GET',
        `${BASE}/domains/${id}/senders/daily?${searchOf(periodQuery(period))}`,
      )
    ).data,
  markSender: (id: string, sender: string, mark: Sender['mark']) =>
    request<unknown>('PUT', `${BASE}/domains/${id}/senders/${encodeURIComponent(sender)}`, {
      body: { mark },
    }),
  source: async (id: string, address: string, period: Period) =>
    (
      await request<ApiResponse<SourceDetail>>(
        'GET',
        `${sourcePath(id, address)}?${searchOf(periodQuery(period))}`,
      )
    ).data,
  sourceRecords: async (id: string, address: string, period: Period, filter: SourceFilter) => {
    const search = searchOf({ ...periodQuery(period), ...filter })
    const path = `${sourcePath(id, address)}/records?${search}`
    return (await request<Static<typeof SourceRecordPage>>('GET', path)).data
  },
  reports: async (id: string, { day, ...filter }: ReportFilter) =>
    (
      await request<Static<typeof ReportPage>>(
        'GET',
        `${BASE}/domains/${id}/reports?${searchOf({ ...filter, records: 'false', ...(day && utcDayRange(day)) })}`,
      )
    ).data,
  report: async (id: string, reportId: string) =>
    (await request<ApiResponse<Report>>('GET', `${BASE}/domains/${id}/reports/${reportId}`)).data,
  records: async (id: string, reportId: string, page: number) =>
    (
      await request<Static<typeof RecordPage>>(
        'GET',
        `${BASE}/domains/${id}/reports/${reportId}/records?page=${page}`,
      )
    ).data,
  tlsReports: async (id: string, page: number) =>
    (
      await request<Static<typeof TlsReportPage>>(
        'GET',
        `${BASE}/domains/${id}/tls-reports?page=${page}`,
      )
    ).data,
  rejected: async (page: number) =>
    (await request<Static<typeof RejectedPage>>('GET', `${BASE}/rejected?page=${page}`)).data,
  upload: async (form: FormData) =>
    (await request<Static<typeof UploadedShape>>('POST', `${BASE}/reports`, { body: form })).data,

  mailboxes: async () =>
    (await request<ApiResponse<ReportMailbox[]>>('GET', `${BASE}/mailboxes`)).data,
  addMailbox: async (mailbox: Static<typeof NewMailbox>) =>
    (await request<ApiResponse<ReportMailbox>>('POST', `${BASE}/mailboxes`, { body: mailbox }))
      .data,
  fetchMailbox: (id: string) => request<unknown>('POST', `${BASE}/mailboxes/${id}/fetch`),
  removeMailbox: (id: string) => request<unknown>('DELETE', `${BASE}/mailboxes/${id}`),
}

const sourcePath = (id: string, address: string) =>
  `${BASE}/domains/${id}/sources/${encodeURIComponent(address)}`

export const rejectedFilePath = (id: string) => inWorkspace(`${BASE}/rejected/${id}/raw`)

/** All queries below this key are refetched when reports arrive. */
const ROOT = 'dmarc'

export const domainsQuery = queryOptions({
  queryKey: [ROOT, 'domains'],
  queryFn: async () => withoutDeleted(await dmarc.domains()),
})

/** Whether there is one at all. */
export const firstDomainQuery = queryOptions({
  queryKey: [ROOT, 'first domain'],
  queryFn: async () => withoutDeleted(await dmarc.domains('?limit=1')),
})

/** The service queries DNS for this, so the answer is reused for 30 seconds. */
export const domainQuery = (id: string) =>
  queryOptions({
    queryKey: [ROOT, 'domain', id],
    queryFn: () => dmarc.domain(id),
    staleTime: 30_000,
  })

export const summaryQuery = (id: string, period: Period) =>
  queryOptions({
    queryKey: [ROOT, 'summary', id, periodQuery(period)],
    queryFn: () => dmarc.summary(id, period),
  })

export const senderDaysQuery = (id: string, period: Period) =>
  queryOptions({
    queryKey: [ROOT, 'sender-days', id, periodQuery(period)],
    queryFn: () => dmarc.senderDays(id, period),
    placeholderData: keepPreviousData,
  })

export const sourceQuery = (id: string, address: string, period: Period) =>
  queryOptions({
    queryKey: [ROOT, 'source', id, address, periodQuery(period)],
    queryFn: () => dmarc.source(id, address, period),
  })

export const sourceRecordsQuery = (
  id: string,
  address: string,
  period: Period,
  filter: SourceFilter,
) =>
  queryOptions({
    queryKey: [ROOT, 'source-records', id, address, periodQuery(period), filter],
    queryFn: () => dmarc.sourceRecords(id, address, period, filter),
    gcTime: 60_000,
  })

export const reportsQuery = (id: string, filter: ReportFilter) =>
  queryOptions({
    queryKey: [ROOT, 'reports', id, filter],
    queryFn: () => dmarc.reports(id, filter),
  })

/** A stored report never changes. */
export const reportQuery = (id: string, reportId: string) =>
  queryOptions({
    queryKey: [ROOT, 'report', id, reportId],
    queryFn: () => dmarc.report(id, reportId),
    staleTime: Infinity,
    gcTime: 60_000,
  })

export const recordsQuery = (id: string, reportId: string, page: number) =>
  queryOptions({
    queryKey: [ROOT, 'records', id, reportId, page],
    queryFn: () => dmarc.records(id, reportId, page),
    gcTime: 60_000,
  })

export const tlsReportsQuery = (id: string, page: number) =>
  queryOptions({ queryKey: [ROOT, 'tls', id, page], queryFn: () => dmarc.tlsReports(id, page) })

export const rejectedQuery = (page: number) =>
  queryOptions({ queryKey: [ROOT, 'rejected', page], queryFn: () => dmarc.rejected(page) })

export const mailboxesQuery = queryOptions({
  queryKey: [ROOT, 'mailboxes'],
  queryFn: async () => withoutDeleted(await dmarc.mailboxes()),
})
