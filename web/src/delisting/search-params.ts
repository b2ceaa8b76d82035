import { oneOf, pageOf, searchText, type Search } from '../search.ts'
import type { Delisting, DelistingFilter } from './api.ts'

const STATUSES: Delisting['status'][] = ['pending', 'in-progress', 'completed', 'failed']

export function delistingsSearch({ ip, status, page }: Search): DelistingFilter {
  return { ip: searchText(ip), status: oneOf(status, STATUSES), page: pageOf(page) }
}

export function newDelistingSearch({ ip }: Search): { ip?: string | undefined } {
  return { ip: searchText(ip) }
}
