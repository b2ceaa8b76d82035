import { oneOf, pageOf, textOf, type Search } from '../search.ts'
import type { ReportFilter, SourceFilter } from './api.ts'

export const SPANS = [7, 30, 90, 365] as const
export type Span = (typeof SPANS)[number]

/** What stands in an address: nothing for the usual. */
export function spanOf(days: Span): Span | undefined {
  return days === 30 ? undefined : days
}

/** The shortest that reaches back to a moment. */
export function spanSince(moment: string): Span | undefined {
  const days = (Date.now() - Date.parse(moment)) / 86_400_000
  return spanOf(SPANS.find((span) => span >= 30 && span > days + 1) ?? 365)
}

/** Over how many days is summed up. */
export function summarySearch({ days }: Search): { days?: Span | undefined } {
  return { days: oneOf(days, SPANS) }
}

export function reportsSearch({ orgName, result, page }: Search): ReportFilter {
  return { orgName: textOf(orgName), result: oneOf(result, ['fail']), page: pageOf(page) }
}

export function sourceSearch({ days, orgName, result, page }: Search): SourceFilter & { days?: Span | undefined } {
  return {
    days: oneOf(days, SPANS),
    orgName: textOf(orgName),
    result: oneOf(result, ['pass', 'fail']),
    page: pageOf(page),
  }
}
