import { pageOf, textOf, type Search } from '../search.ts'
import type { AlertFilter } from './api.ts'

export function alertsSearch({ kind, page }: Search): AlertFilter {
  return { kind: textOf(kind), page: pageOf(page) }
}
