import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { ImportReport } from '../../../src/http/shapes.ts'
import type {
  DomainFix,
  DomainHistory,
  DomainLine,
  DomainPage as DomainPageShape,
  DomainQuery,
  DomainReport,
  DomainSummary,
  RecordState,
  WatchedDomain as WatchedDomainShape,
  WatchState,
} from '../../../src/domains/shapes.ts'
import { ApiError, request, type ApiResponse } from '../api.ts'
import { requestEvents } from '../check/api.ts'
import { searchOf } from '../search.ts'

export type { DomainHistory, DomainSummary }
export type DomainPage = Static<typeof DomainPageShape>
export type WatchedDomain = Static<typeof WatchedDomainShape>
export type { DomainFix, DomainLine, DomainReport, RecordState }
export type LineState = DomainLine['state']

/** A check as far as it is known: its lines and fixes so far, and in the end the report. */
export type DomainCheck = {
  lines: DomainLine[]
  /** The records to publish that are known before the report; null until then. */
  fixes: DomainFix[] | null
  report: DomainReport | null
  /** Proof of the report, to share it. */
  receipt: string | null
}

type ReportAnswer = { data: DomainReport; receipt: string }

/** Domains on one page of the list. */
const PAGE_DOMAINS = 100

export type DomainFilter = Omit<Partial<Static<typeof DomainQuery>>, 'watched'> & {
  watched?: 'true'
}

const pathOf = (domain: string) => `/api/v1/domains/${encodeURIComponent(domain)}`

/** Checks now; takes up to ten seconds. Its lines are shown as they come. */
export const domainCheckQuery = (domain: string) =>
  queryOptions({
    queryKey: ['domain-check', domain],
    queryFn: ({ signal, client, queryKey }) =>
      followCheck(domain, signal, (soFar) => client.setQueryData<DomainCheck>(queryKey, soFar)),
    staleTime: 60_000,
    retry: false,
    refetchOnWindowFocus: false,
  })

/** Lines that come within this time are shown together: each time, the screen is rendered again. */
const LINES_TOGETHER_MS = 250

async function followCheck(
  domain: string,
  signal: AbortSignal,
  onProgress: (soFar: DomainCheck) => void,
): Promise<DomainCheck> {
  const lines: DomainLine[] = []
  let fixes: DomainFix[] | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  const show = () => {
    timer = undefined
    onProgress({ lines: [...lines], fixes, report: null, receipt: null })
  }
  try {
    for await (const text of requestEvents(`${pathOf(domain)}/events`, signal)) {
      const event = JSON.parse(text) as DomainLine | { fixes: DomainFix[] } | ReportAnswer
      if ('receipt' in event) return complete(event)
      if ('fixes' in event) fixes = event.fixes
      else lines.push(event)
      timer ??= setTimeout(show, LINES_TOGETHER_MS)
    }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ApiError) throw error
  } finally {
    clearTimeout(timer)
  }
  // The stream does not say why it failed; the same request without one does.
  return complete(await request<ReportAnswer>('GET', pathOf(domain), { signal }))
}

function complete({ data, receipt }: ReportAnswer): DomainCheck {
  return { lines: data.lines, fixes: data.fixes, report: data, receipt }
}

export const domains = {
  watch: async (domain: string) =>
    (await request<ApiResponse<WatchedDomain>>('POST', `${pathOf(domain)}/watch`)).data,
  watchSeveral: async (entries: { domain: string }[]) =>
    (
      await request<ApiResponse<ImportReport>>('POST', '/api/v1/domains/import', {
        body: { entries },
      })
    ).data,
  changeLabels: (domain: string, labels: string[]) =>
    request<unknown>('PUT', `${pathOf(domain)}/labels`, { body: { labels } }),
  unwatch: (domain: string) => request<unknown>('DELETE', `${pathOf(domain)}/watch`),
}

/** All queries below this key are refetched when domains change. */
export const DOMAINS_KEY = ['domains'] as const

/** A page of the domains of the workspace, those with problems first unless ordered otherwise. */
export async function listDomains(filter: DomainFilter) {
  const search = searchOf({ limit: PAGE_DOMAINS, ...filter })
  return (await request<ApiResponse<DomainPage>>('GET', `/api/v1/domains?${search}`)).data
}

export const domainsQuery = (filter: DomainFilter) =>
  queryOptions({ queryKey: [...DOMAINS_KEY, 'list', filter], queryFn: () => listDomains(filter) })

/** The first watched domains of the workspace, those with problems first. */
export const watchedDomainsQuery = (limit: number) => domainsQuery({ watched: 'true', limit })

/** Whether a domain is watched, and gets DMARC reports. */
export const watchQuery = (domain: string) =>
  queryOptions({
    queryKey: [...DOMAINS_KEY, 'watch', domain],
    queryFn: async () =>
      (await request<ApiResponse<Static<typeof WatchState>>>('GET', `${pathOf(domain)}/watch`))
        .data,
  })

/** The last whole check of a watched domain; null where there is none. */
export const storedCheckQuery = (domain: string) =>
  queryOptions({
    queryKey: [...DOMAINS_KEY, 'stored', domain],
    queryFn: async () =>
      (await request<ApiResponse<DomainReport | null>>('GET', `${pathOf(domain)}/stored`)).data,
  })

export const historyQuery = (domain: string) =>
  queryOptions({
    queryKey: [...DOMAINS_KEY, 'history', domain],
    queryFn: async () =>
      (await request<ApiResponse<DomainHistory>>('GET', `${pathOf(domain)}/history`)).data,
  })

/** Milliseconds between two lookups of a record that a person is about to publish. */
const RECORD_INTERVAL_MS = 10_000

/** Asks the name servers for a record until they publish it. */
export const recordQuery = (domain: string, { name, type, value }: DomainFix) =>
  queryOptions({
    queryKey: ['domain-record', domain, name, type, value],
    queryFn: async ({ signal }) => {
      const search = searchOf({ name, type, value })
      const path = `${pathOf(domain)}/record?${search}`
      return (await request<ApiResponse<RecordState>>('GET', path, { signal })).data
    },
    retry: false,
    refetchInterval: ({ state }) => (state.data?.matches === true ? false : RECORD_INTERVAL_MS),
  })
