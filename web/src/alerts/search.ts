import { pageOf, searchText, type Search } from '../search.ts'
import type { AlertFilter } from './api.ts'

export function alertsSearch({ kind, page }: Search): AlertFilter {
  return { kind: searchText(kind), page: pageOf(page) }
}
