import type { Pool } from 'pg'
import { knownAddress } from '../abuse/seed.ts'
import { LARGEST, WORKSPACES, idOf, type Sizes } from './sizes.ts'

/** A page of the API. `path` gives the n-th request, counted from 0. */
export type Page = { name: string; path: (n: number) => string; headers?: Record<string, string> }

/** Rows that the pages ask for by ids that the database has made. */
type Samples = {
  requests: { endpointId: string; id: string }[]
  reports: { domainId: string; id: string }[]
  source: string
}

/** The largest workspace, or a small one. */
export type Workspace = 1 | 2

/** The pages that the dashboard’s screens read, and the lists that programs read. */
export async function pagesOf(
  pool: Pool,
  workspace: Workspace,
  { sizes, reportToken }: { sizes: Sizes; reportToken: string },
): Promise<Page[]> {
  const samples = await readSamples(pool, workspace)
  const now = Date.now()
  const daysAgo = (days: number) => new Date(now - days * 86_400_000).toISOString()
  const day = (days: number) => daysAgo(days).slice(0, 10)
  const page = (name: string, path: Page['path'], headers?: Record<string, string>): Page => ({
    name,
    path,
    ...(headers && { headers }),
  })
  const endpoint = (n: number) =>
    `/api/webhook/endpoints/${idOf('endpoint', nth(workspace, LARGEST.endpoints, n))}`
  const request = (n: number) => {
    const { endpointId, id } = samples.requests[n % samples.requests.length] ?? {}
    return `/api/webhook/endpoints/${endpointId}/requests/${id}`
  }
  // The first request is always about the largest domain of the workspace.
  const domain = (n: number) =>
    `/api/v1/dmarc/domains/${idOf('domain', nth(workspace, LARGEST.domains, n % 3))}`
  const report = (n: number) => {
    const { domainId, id } = samples.reports[n % samples.reports.length] ?? {}
    return `/api/v1/dmarc/domains/${domainId}/reports/${id}`
  }
  const hostOf = (n: number) =>
    `/api/v1/monitoring/hosts/${idOf('host', nth(workspace, LARGEST.hosts, n))}`
  const deep = workspace === 1 ? 40 : 1
  const address = (n: number) => knownAddress((n * n * 997) % sizes.addresses)
  const watched = (n: number) =>
    `/api/v1/domains/customer${nth(workspace, LARGEST.domains, n)}.example`

  const pages = [
    page('overview', () => '/api/v1/overview'),
    page('problems', () => '/api/v1/problems'),
    page('webhook endpoints', () => '/api/webhook/endpoints'),
    page('webhook endpoint', endpoint),
    page('requests, newest', (n) => `${endpoint(n)}/requests?limit=50`),
    page('requests, 20 days ago', (n) => `${endpoint(n)}/requests?limit=50&until=${daysAgo(20)}`),
    page('requests, oldest first', (n) => `${endpoint(n)}/requests?limit=100&order=asc`),
    page(
      'requests, by method and path',
      (n) => `${endpoint(n)}/requests?method=GET&path=/webhooks/`,
    ),
    page('requests, text found', (n) => `${endpoint(n)}/requests?q=customer`),
    page('requests, text not found', (n) => `${endpoint(n)}/requests?q=nowhere${n}`),
    page('request', request),
    page('DMARC domains', () => '/api/v1/dmarc/domains'),
    page('DMARC domain', domain),
    page('DMARC reports with records', (n) => `${domain(n)}/reports`),
    page('DMARC reports, newest', (n) => `${domain(n)}/reports?records=false`),
    page('DMARC reports, deep', (n) => `${domain(n)}/reports?records=false&page=${deep + (n % 2)}`),
    page(
      'DMARC reports, most failures',
      (n) => `${domain(n)}/reports?records=false&sort=-fail&page=${1 + (n % 3)}`,
    ),
    page(
      'DMARC reports of a reporter',
      (n) => `${domain(n)}/reports?records=false&orgName=reporter${n % 10}.example&result=fail`,
    ),
    page('DMARC report', report),
    page('DMARC records of a report', (n) => `${report(n)}/records?page=1`),
    page('DMARC summary, 30 days', (n) => `${domain(n)}/summary?from=${day(30)}&to=${day(1)}`),
    page('DMARC summary, 90 days', (n) => `${domain(n)}/summary?from=${day(90)}&to=${day(1)}`),
    page('DMARC senders by day', (n) => `${domain(n)}/senders/daily?from=${day(90)}&to=${day(1)}`),
    page(
      'DMARC source',
      (n) => `${domain(0)}/sources/${samples.source}?from=${day(30 + (n % 50))}&to=${day(1)}`,
    ),
    page(
      'DMARC records of a source',
      (n) =>
        `${domain(0)}/sources/${samples.source}/records?from=${day(30 + (n % 50))}&to=${day(1)}`,
    ),
    page('DMARC rejected', () => '/api/v1/dmarc/rejected'),
    page('monitored hosts, all', () => '/api/v1/monitoring/hosts'),
    ...(['status', '-host', 'availability', '-lastCheckAt'] as const).map((order) =>
      page(
        `monitored hosts by ${order}`,
        (n) => `/api/v1/monitoring/hosts?sort=${order}&limit=100&page=${1 + (n % 2) * (deep - 1)}`,
      ),
    ),
    page('monitored hosts, search', (n) => `/api/v1/monitoring/hosts?q=mx1.customer${n}&limit=100`),
    page(
      'monitored hosts, listed',
      (n) => `/api/v1/monitoring/hosts?status=listed&sort=host&page=${1 + (n % 10)}`,
    ),
    page('monitored host', hostOf),
    page('monitored host, history', (n) => `${hostOf(n)}/history`),
    page('monitored host, timeline', (n) => `${hostOf(n)}/timeline`),
    page('monitoring timeline', () => '/api/v1/monitoring/timeline'),
    page('blocklists', () => '/api/v1/monitoring/lists'),
    page('attack statistics', () => '/api/v1/abuse/stats'),
    page('attacks by network', (n) => `/api/v1/abuse/networks?day=${day(n % 30)}`),
    page('address, a DMARC source', () => `/api/v1/addresses/${samples.source}`),
    page('address, an attacker', (n) => `/api/v1/addresses/${address(n)}`),
    page('address, a /64', (n) => `/api/v1/addresses/2001:db8:${(n % 4000).toString(16)}::1`),
    page('address check', (n) => `/api/v1/abuse/check?ip=${address(n)}`),
    page('attack list, JSON', () => '/api/v1/abuse/export?format=json'),
    page('attack list, text', () => '/api/v1/abuse/export?format=plain'),
    page('attack list of a service', () => '/api/v1/abuse/export?format=plain&service=ssh'),
    page('report tokens', () => '/api/v1/abuse/tokens'),
    page('report token', () => `/api/v1/abuse/tokens/${reportToken}`),
    page('AbuseIPDB check', (n) => `/api/v2/check?ipAddress=${address(n)}`, { key: reportToken }),
    page(
      'AbuseIPDB check-block',
      (n) => `/api/v2/check-block?network=${address(n).replace(/\d+$/, '0')}/24`,
      { key: reportToken },
    ),
    page('AbuseIPDB reports', (n) => `/api/v2/reports?ipAddress=${address(n)}`, {
      key: reportToken,
    }),
    page('fleet', () => '/api/v1/abuse/fleet'),
    page('fleet bans', (n) => `/api/v1/abuse/fleet/bans?page=${1 + (n % 2) * (deep - 1)}`),
    page('fleet bans, search', (n) => `/api/v1/abuse/fleet/bans?q=41.${n}.`),
    page('fleet history', (n) => `/api/v1/abuse/fleet/history?limit=100&before=${50_000 + n}`),
    page(
      'fleet history of an address',
      (n) => `/api/v1/abuse/fleet/history?ip=${knownAddress(n + 1)}`,
    ),
    page('alerts, newest', () => '/api/v1/alerts'),
    page('alerts, deep', (n) => `/api/v1/alerts?page=${deep * 10 + n}`),
    page(
      'alerts, filtered',
      (n) => `/api/v1/alerts?kind=dmarc&state=${n % 2 ? 'open' : 'resolved'}`,
    ),
    page('incidents', (n) => `/api/v1/alerts/incidents?page=${1 + (n % 2) * (deep - 1)}`),
    page(
      'incident',
      (n) => `/api/v1/alerts/incidents/${idOf('incident', workspace * 100_000 + 1 + n)}`,
    ),
    page('alert channels', () => '/api/v1/alerts/channels'),
    page('domains', (n) => `/api/v1/domains?page=${1 + (n % 2) * Math.min(9, deep - 1)}&limit=100`),
    page('domain', (n) => `${watched(n)}/stored`),
    page('domain, history', (n) => `${watched(n)}/history`),
    page('audit log', () => `/api/v1/workspaces/${idOf('workspace', workspace)}/audit`),
    page(
      'audit log, deep',
      (n) => `/api/v1/workspaces/${idOf('workspace', workspace)}/audit?page=${deep * 50 - n}`,
    ),
    page(
      'audit log, text found',
      (n) => `/api/v1/workspaces/${idOf('workspace', workspace)}/audit?q=mx${n}.`,
    ),
    page(
      'audit log, text not found',
      (n) => `/api/v1/workspaces/${idOf('workspace', workspace)}/audit?q=nowhere${n}`,
    ),
    page('usage', () => '/api/v1/account/usage'),
    page('workspaces', () => '/api/v1/workspaces'),
    ...(workspace === 1 ? administratorPages(page) : []),
  ]
  // At the smallest shares, a small workspace has nothing of a kind.
  return pages.filter(({ path }) => !/undefined|sources\/\//.test(path(0).replace('?', '/')))
}

function administratorPages(page: (name: string, path: Page['path']) => Page): Page[] {
  return [
    page('candidates', (n) => `/api/v1/abuse/candidates?limit=100&page=${1 + (n % 5)}`),
    page('sensors', () => '/api/v1/abuse/sensors'),
    page('accounts', (n) => `/api/v1/accounts?page=${1 + (n % 20)}`),
    page('accounts, search', (n) => `/api/v1/accounts?q=person${n}`),
    page('usage of all workspaces', (n) => `/api/v1/accounts/usage?page=${1 + (n % 20)}`),
    page('all workspaces', (n) => `/api/v1/accounts/workspaces?page=${1 + (n % 20)}`),
  ]
}

/** The number of the n-th endpoint, domain or host of a workspace. */
function nth(workspace: Workspace, ofLargest: number, n: number): number {
  if (workspace === 1) return 1 + (n % Math.min(ofLargest, 100))
  const others = WORKSPACES - 1
  return others * (Math.floor(ofLargest / others) + 1 + (n % 5))
}

async function readSamples(pool: Pool, workspace: Workspace): Promise<Samples> {
  const endpointId = idOf('endpoint', nth(workspace, LARGEST.endpoints, 0))
  const domainId = idOf('domain', nth(workspace, LARGEST.domains, 0))
  const requests = await pool.query<Samples['requests'][number]>(
    'select endpoint_id as "endpointId", id from webhook_request where endpoint_id = $1 limit 30',
    [endpointId],
  )
  const reports = await pool.query<Samples['reports'][number]>(
    `select domain_id as "domainId", id from dmarc_report where domain_id = $1 order by received_at desc limit 30`,
    [domainId],
  )
  const sources = await pool.query<{ source: string }>(
    'select host(source) as source from dmarc_source_day where domain_id = $1 order by day desc, messages desc limit 1',
    [domainId],
  )
  return { requests: requests.rows, reports: reports.rows, source: sources.rows[0]?.source ?? '' }
}
