import { oneOf, pageOf, searchText, type Search, type TableSearch } from '../search.ts'
import type { Delisting } from './api.ts'

/** The search parameters of the list. */
type DelistingSearch = {
  ip?: string | undefined
  status?: Delisting['status'] | undefined
  page?: number | undefined
}

const STATUSES: Delisting['status'][] = ['pending', 'in-progress', 'completed', 'failed']

export function delistingsSearch({
  ip,
  status,
  page,
  sort,
}: Search): DelistingSearch & Pick<TableSearch, 'sort'> {
  return {
    ip: searchText(ip),
    status: oneOf(status, STATUSES),
    page: pageOf(page),
    sort: searchText(sort),
  }
}

export function newDelistingSearch({ ip }: Search): { ip?: string | undefined } {
  return { ip: searchText(ip) }
}
