import { dayOf, oneOf, pageOf, searchText, type Search } from '../search.ts'
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
export function summarySearch({ days, senders, sender }: Search): {
  days?: SummaryDays | undefined
  senders?: string | undefined
  sender?: string | undefined
} {
  return {
    days: oneOf(days, SUMMARY_DAYS),
    senders: searchText(senders),
    sender: searchText(sender),
  }
}

export function reportsSearch({ orgName, result, day, page }: Search): ReportFilter {
  return {
    orgName: searchText(orgName),
    result: oneOf(result, ['fail']),
    day: dayOf(day),
    page: pageOf(page),
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
