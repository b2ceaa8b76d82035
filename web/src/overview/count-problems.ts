import type { Channel } from '../alerts/api.ts'
import { request, type ApiResponse } from '../api.ts'
import type { Delisting } from '../delisting/api.ts'
import type { ReportDomain, ReportMailbox } from '../dmarc/api.ts'
import type { DomainSummary } from '../domains/api.ts'
import type { Listed } from '../migrations/api.ts'
import type { HostPage } from '../monitoring/api.ts'
import { countProblems, findProblems, NO_HOSTS } from './problems.ts'

/** The parts of the overview, by the beginning of their paths. */
type Parts = {
  '/api/v1/domains?': ApiResponse<{ domains: DomainSummary[]; pagination: { total: number } }>
  '/api/v1/monitoring/hosts': { data: HostPage['rows']; counts: HostPage['counts'] }
  '/api/v1/delisting/status': ApiResponse<{ processes: Delisting[] }>
  '/api/v1/imap/migrations': ApiResponse<{ migrations: Listed[] }>
  '/api/v1/dmarc/domains': ApiResponse<ReportDomain[]>
  '/api/v1/dmarc/mailboxes': ApiResponse<ReportMailbox[]>
  '/api/v1/alerts/channels': ApiResponse<Channel[]>
}

/** Counts the problems of a workspace, which need not be the one of this tab. */
export async function countProblemsOf(workspace: string): Promise<number> {
  const { data } = await request<ApiResponse<Record<string, unknown>>>('GET', '/api/v1/overview', {
    workspace,
  })
  // A part that the account may not read is left out.
  const part = <P extends keyof Parts>(path: P) =>
    Object.entries(data).find(([url]) => url.startsWith(path))?.[1] as Parts[P] | undefined
  const watched = part('/api/v1/domains?')?.data
  const hosts = part('/api/v1/monitoring/hosts')
  return countProblems(
    findProblems({
      watched: { domains: watched?.domains ?? [], total: watched?.pagination.total ?? 0 },
      hosts: hosts ? { rows: hosts.data, counts: hosts.counts } : NO_HOSTS,
      cases: part('/api/v1/delisting/status')?.data.processes ?? [],
      migrations: part('/api/v1/imap/migrations')?.data.migrations ?? [],
      domains: part('/api/v1/dmarc/domains')?.data ?? [],
      mailboxes: part('/api/v1/dmarc/mailboxes')?.data ?? [],
      channels: part('/api/v1/alerts/channels')?.data ?? [],
      appeals: [],
      hold: null,
      candidates: 0,
    }).problems,
  )
}
