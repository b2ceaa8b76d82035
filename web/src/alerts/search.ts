import { oneOf, pageOf, searchText, tableSearch, type Search, type TableSearch } from '../search.ts'
import type { AlertFilter } from './api.ts'

/** The state, sorting and filter of the problems. */
export type ProblemsSearch = TableSearch & { state?: 'resolved' | 'all' | undefined }

export function problemsSearch(search: Search): ProblemsSearch {
  return { ...tableSearch(search), state: oneOf(search['state'], ['resolved', 'all']) }
}

/** The topic and page of the history. */
export function alertHistorySearch({ kind, page }: Search): AlertFilter {
  return { kind: searchText(kind), page: pageOf(page) }
}
