import { queryOptions } from '@tanstack/react-query'
import type { Channel } from '../alerts/api.ts'
import { request, type ApiResponse } from '../api.ts'
import type { DomainSummary } from '../domains/api.ts'
import type { Delisting } from '../delisting/api.ts'
import type { ReportDomain, ReportMailbox } from '../dmarc/api.ts'
import type { Listed } from '../migrations/api.ts'
import { monitoring } from '../monitoring/api.ts'
import { countIssues, findIssues } from '../overview/issues.ts'
import { MAX_CARDS, MAX_HOSTS } from '../overview/limits.ts'

/** Milliseconds for which the issues of another workspace are not loaded again. */
const FRESH_MS = 60_000

/** The last of the loads, which wait for each other. */
let last: Promise<unknown> = Promise.resolve()

/** The number of issues of a workspace, which need not be the one of this tab. */
export const workspaceIssuesQuery = (id: string) =>
  queryOptions({
    queryKey: ['workspaces', 'issues', id],
    queryFn: () => {
      // One workspace after the other, because a load has several requests.
      const load = last.then(() => countIssuesOf(id))
      last = load.catch(() => undefined)
      return load
    },
    staleTime: FRESH_MS,
  })

async function countIssuesOf(workspace: string): Promise<number> {
  const get = async <T>(path: string) =>
    (await request<ApiResponse<T>>('GET', `/api/v1/${path}`, { workspace })).data
  const [watched, hosts, cases, migrations, domains, mailboxes, channels] = await Promise.all([
    get<{ domains: DomainSummary[]; pagination: { total: number } }>(
      `domains?watched=true&limit=${MAX_CARDS}`,
    ),
    monitoring.hosts({ limit: MAX_HOSTS }, { workspace }),
    get<{ processes: Delisting[] }>('delisting/status'),
    get<{ migrations: Listed[] }>('imap/migrations'),
    get<ReportDomain[]>('dmarc/domains'),
    get<ReportMailbox[]>('dmarc/mailboxes'),
    get<Channel[]>('alerts/channels'),
  ])
  const nothing = { appeals: [], hold: null, candidates: 0 }
  const issues = findIssues({
    watched: { domains: watched.domains, total: watched.pagination.total },
    hosts,
    cases: cases.processes,
    migrations: migrations.migrations,
    domains,
    mailboxes,
    channels,
    ...nothing,
  })
  return countIssues(issues)
}
