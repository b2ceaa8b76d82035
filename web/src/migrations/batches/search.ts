import {
  oneOf,
  pageOf,
  searchText,
  tableSearch,
  type Search,
  type TableSearch,
} from '../../search.ts'
import type { MailboxState } from './api.ts'
import { states } from './messages.ts'

/** The filter of the mailboxes of a batch. */
export type BatchSearch = TableSearch & {
  page?: number | undefined
  state?: MailboxState | undefined
  problem?: string | undefined
  host?: string | undefined
}

export function batchSearch({ page, state, problem, host, ...rest }: Search): BatchSearch {
  return {
    ...tableSearch(rest),
    page: pageOf(page),
    state: oneOf(state, Object.keys(states) as MailboxState[]),
    problem: searchText(problem),
    host: searchText(host),
  }
}
