import { oneOf, pageOf, textOf, type Search } from '../search.ts'
import type { ReportFilter } from './api.ts'

export const SPANS = [7, 30, 90, 365] as const
export type Span = (typeof SPANS)[number]

/** Over how many days is summed up. */
export function summarySearch({ days }: Search): { days?: Span | undefined } {
  return { days: oneOf(days, SPANS) }
}

export function reportsSearch({ orgName, result, page }: Search): ReportFilter {
  return { orgName: textOf(orgName), result: oneOf(result, ['fail']), page: pageOf(page) }
}
