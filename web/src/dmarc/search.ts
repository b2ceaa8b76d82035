import type { Static } from 'typebox'
import type { ReportQuery } from '../../../src/dmarc/shapes.ts'
import { utcDayBefore } from '../ui/text/dates.ts'
import { dayOf, oneOf, pageOf, searchText, type Search, type TableSearch } from '../search.ts'

export const PERIOD_DAYS = [7, 30, 90, 365, 'all'] as const
type PeriodDays = (typeof PERIOD_DAYS)[number]

const DEFAULT_DAYS = 30

/** The period of a summary in the URL: UTC days, or days that end today. Without either, 30 days. */
export type Period = {
  days?: PeriodDays | undefined
  from?: string | undefined
  to?: string | undefined
}

/** The period of a URL. */
export function periodSearch({ days, from, to }: Search): Period {
  const [first, last] = [dayOf(from), dayOf(to)]
  if (first !== undefined && last !== undefined && first <= last) return { from: first, to: last }
  return periodOf(oneOf(days, PERIOD_DAYS))
}

/** A period that ends today; the default has no URL parameter. */
export function periodOf(days: PeriodDays | undefined): Period {
  return days === undefined || days === DEFAULT_DAYS ? {} : { days }
}

/** The period as the API takes it. */
export function periodQuery({ days = DEFAULT_DAYS, from, to }: Period): Record<string, string> {
  if (from !== undefined && to !== undefined) return { from, to }
  return { period: days === 'all' ? days : `${days}d` }
}

/** The shortest period, from 30 days, that includes an instant. */
export function periodSince(instant: string): Period {
  const days = (Date.now() - Date.parse(instant)) / 86_400_000
  return periodOf(
    ([30, 90, 365].find((span) => span > days + 1) as 30 | 90 | 365 | undefined) ?? 'all',
  )
}

/** The default period if it has reports, else 30 days that end with the newest one. */
export function periodWithReports(reported: { from: string; to: string } | null): Period {
  if (reported === null || reported.to >= utcDayBefore(DEFAULT_DAYS - 1)) return {}
  return { from: utcDayBefore(DEFAULT_DAYS - 1, Date.parse(reported.to)), to: reported.to }
}

/** Sorting and filter of the tables of a summary: that of the senders, and one for each group of sources. */
export const SUMMARY_TABLES = {
  senders: { sort: 'senders', filter: 'sender' },
  failing: { sort: 'failing', filter: 'failed' },
  'partly-aligned': { sort: 'partial', filter: 'partly' },
  'forwarder-like': { sort: 'forwarded', filter: 'forwarder' },
  aligned: { sort: 'passing', filter: 'passed' },
} as const

type TableParameter = (typeof SUMMARY_TABLES)[keyof typeof SUMMARY_TABLES]['sort' | 'filter']
type SummarySearch = Period & {
  [parameter in TableParameter]?: string | undefined
}

export function summarySearch(search: Search): SummarySearch {
  const parameters = Object.values(SUMMARY_TABLES).flatMap(({ sort, filter }) => [sort, filter])
  return {
    ...periodSearch(search),
    ...Object.fromEntries(parameters.map((name) => [name, searchText(search[name])])),
  }
}

/** The filter of the reports, as the screen’s URL has it. */
export type ReportFilter = {
  orgName?: string | undefined
  result?: 'fail' | undefined
  /** Reports that cover this UTC day. */
  day?: string | undefined
  sort?: Static<typeof ReportQuery>['sort']
  page?: number | undefined
  limit?: number
}

/** The filter of a source’s records. */
export type SourceFilter = {
  orgName?: string | undefined
  result?: 'pass' | 'fail' | undefined
  page?: number | undefined
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

export function sourceSearch({ orgName, result, page, ...period }: Search): SourceFilter & Period {
  return {
    ...periodSearch(period),
    orgName: searchText(orgName),
    result: oneOf(result, ['pass', 'fail']),
    page: pageOf(page),
  }
}
