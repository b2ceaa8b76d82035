import { dayOf, oneOf, pageOf, searchText, type Search, type TableSearch } from '../search.ts'
import type { ReportFilter, SourceFilter } from './api.ts'

export const SUMMARY_DAYS = [7, 30, 90, 365] as const
export type SummaryDays = (typeof SUMMARY_DAYS)[number]

export const DEFAULT_DAYS = 30

/** The URL parameter of a period; undefined for the default. */
export function daysParameter(days: SummaryDays): SummaryDays | undefined {
  return days === DEFAULT_DAYS ? undefined : days
}

/** The shortest period, from 30 days, that includes an instant. */
export function daysParameterSince(instant: string): SummaryDays | undefined {
  const days = (Date.now() - Date.parse(instant)) / 86_400_000
  return daysParameter(SUMMARY_DAYS.find((span) => span >= 30 && span > days + 1) ?? 365)
}

/** The URL parameters of a summary; `senders` sorts its senders, and `sender` filters them. */
/** Sorting and filter of the tables of a summary: that of the senders, and one for each group of sources. */
export const SUMMARY_TABLES = {
  senders: { sort: 'senders', filter: 'sender' },
  failing: { sort: 'failing', filter: 'failed' },
  'partly-aligned': { sort: 'partial', filter: 'partly' },
  'forwarder-like': { sort: 'forwarded', filter: 'forwarder' },
  aligned: { sort: 'passing', filter: 'passed' },
} as const

type TableParameter = (typeof SUMMARY_TABLES)[keyof typeof SUMMARY_TABLES]['sort' | 'filter']
type SummarySearch = { days?: SummaryDays | undefined } & {
  [parameter in TableParameter]?: string | undefined
}

export function summarySearch(search: Search): SummarySearch {
  const parameters = Object.values(SUMMARY_TABLES).flatMap(({ sort, filter }) => [sort, filter])
  return {
    days: oneOf(search['days'], SUMMARY_DAYS),
    ...Object.fromEntries(parameters.map((name) => [name, searchText(search[name])])),
  }
}

export function reportsSearch({
  orgName,
  result,
  day,
  page,
  sort,
}: Search): Omit<ReportFilter, 'sort'> & Pick<TableSearch, 'sort'> {
  return {
    orgName: searchText(orgName),
    result: oneOf(result, ['fail']),
    day: dayOf(day),
    page: pageOf(page),
    sort: searchText(sort),
  }
}

export function sourceSearch({
  days,
  orgName,
  result,
  page,
}: Search): SourceFilter & { days?: SummaryDays | undefined } {
  return {
    days: oneOf(days, SUMMARY_DAYS),
    orgName: searchText(orgName),
    result: oneOf(result, ['pass', 'fail']),
    page: pageOf(page),
  }
}
