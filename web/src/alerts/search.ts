import { oneOf, pageOf, searchText, tableSearch, type Search, type TableSearch } from '../search.ts'
import type { AlertFilter } from './api.ts'

/** The topic and page of the history, and the state, sorting and filter of the problems. */
export type AlertsSearch = AlertFilter & TableSearch & { state?: 'resolved' | 'all' | undefined }

export function alertsSearch(search: Search): AlertsSearch {
  const { kind, page, state } = search
  return {
    ...tableSearch(search),
    kind: searchText(kind),
    page: pageOf(page),
    state: oneOf(state, ['resolved', 'all']),
  }
}
