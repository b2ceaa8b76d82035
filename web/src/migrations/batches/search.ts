import {
  oneOf,
  pageOf,
  searchText,
  tableSearch,
  type Search,
  type TableSearch,
} from '../../search.ts'
import type { MailboxState } from './api.ts'

const STATES: MailboxState[] = [
  'invalid',
  'waiting_for_owner',
  'ready',
  'queued',
  'syncing',
  'in_sync',
  'needs_attention',
  'paused',
  'done',
]

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
    state: oneOf(state, STATES),
    problem: searchText(problem),
    host: searchText(host),
  }
}
