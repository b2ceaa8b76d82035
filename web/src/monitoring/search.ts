import { dayOf, oneOf, pageOf, tableSearch, type Search, type TableSearch } from '../search.ts'
import type { HistorySearch, Host, MonitoredKind } from './api.ts'

const STATUSES: Host['status'][] = ['listed', 'unknown', 'pending', 'clean']
const KINDS: MonitoredKind[] = ['blacklist', 'certificate', 'dns']

/** Filters, order and page of the list of hosts. */
export type HostsSearch = TableSearch & {
  status?: Host['status'] | undefined
  page?: number | undefined
}

export function hostsSearch({ status, page, ...rest }: Search): HostsSearch {
  return { ...tableSearch(rest), status: oneOf(status, STATUSES), page: pageOf(page) }
}

export function historySearch({ kind, page, day }: Search): HistorySearch {
  return { kind: oneOf(kind, KINDS), page: pageOf(page), day: dayOf(day) }
}
