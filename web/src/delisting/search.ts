import { oneOf, pageOf, textOf, type Search } from '../search.ts'
import type { Case, CaseFilter } from './api.ts'

const STATUSES: Case['status'][] = ['pending', 'in-progress', 'completed', 'failed']

export function casesSearch({ ip, status, page }: Search): CaseFilter {
  return { ip: textOf(ip), status: oneOf(status, STATUSES), page: pageOf(page) }
}

export function newCaseSearch({ ip }: Search): { ip?: string | undefined } {
  return { ip: textOf(ip) }
}
