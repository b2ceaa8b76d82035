import { dayOf, oneOf, pageOf, searchText, type Search } from '../search.ts'
import type { Host, MonitoredKind } from './api.ts'

const STATUSES: Host['status'][] = ['listed', 'unknown', 'pending', 'clean']
const KINDS: MonitoredKind[] = ['blacklist', 'certificate', 'dns']

/** Filter of the list of hosts. */
export type HostsSearch = { q?: string | undefined; status?: Host['status'] | undefined }

export function hostsSearch({ q, status }: Search): HostsSearch {
  return { q: searchText(q), status: oneOf(status, STATUSES) }
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
