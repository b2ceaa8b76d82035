import { oneOf, pageOf, searchText, type Search, type TableSearch } from '../search.ts'
import type { Delisting, DelistingFilter } from './api.ts'

const STATUSES: Delisting['status'][] = ['pending', 'in-progress', 'completed', 'failed']

export function delistingsSearch({
  ip,
  status,
  page,
  sort,
}: Search): DelistingFilter & Pick<TableSearch, 'sort'> {
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
