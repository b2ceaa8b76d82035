import { dayOf, oneOf, pageOf, tableSearch, type Search, type TableSearch } from '../search.ts'
import type { Host, MonitoredKind } from './api.ts'

const STATUSES: Host['status'][] = ['listed', 'unknown', 'pending', 'clean']
const KINDS: MonitoredKind[] = ['blacklist', 'certificate', 'dns']

/** Filters and order of the list of hosts. */
export type HostsSearch = TableSearch & { status?: Host['status'] | undefined }

export function hostsSearch({ status, ...rest }: Search): HostsSearch {
  return { ...tableSearch(rest), status: oneOf(status, STATUSES) }
}

/** Filter and page of a host’s history. */
export type HistorySearch = {
  kind?: MonitoredKind | undefined
  page?: number | undefined
  /** Changes on this UTC day. */
  day?: string | undefined
}

export function historySearch({ kind, page, day }: Search): HistorySearch {
  return { kind: oneOf(kind, KINDS), page: pageOf(page), day: dayOf(day) }
}
