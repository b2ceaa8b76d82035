// The calls that the interface is specified by, with the least that each takes, through the client
// that openapi-typescript makes of openapi.json. Compiled and run by
// test/http/openapi-client.test.ts, which puts schema.ts beside a copy of this file.
import createClient from 'openapi-fetch'
import type { components, paths } from './schema.ts'

const [baseUrl, token, cookie] = process.argv.slice(2) as [string, string, string]
const headers = { authorization: `Bearer ${token}` }
const api = createClient<paths>({ baseUrl, headers })
const browser = createClient<paths>({ baseUrl, headers: { cookie } })

type Connection = components['schemas']['Connection']
const account: Connection = { host: '127.0.0.1', user: 'alice', password: 'secret' }

const answers = {
  dns: await api.GET('/api/v1/dns-check', { params: { query: { domain: 'example.com' } } }),
  ssl: await api.GET('/api/v1/ssl-check', { params: { query: { domain: 'example.com' } } }),
  blacklist: await api.GET('/api/v1/blacklist-check', { params: { query: { ip: '10.0.0.1' } } }),
  dmarc: await api.GET('/api/v1/dmarc-check', { params: { query: { domain: 'example.com' } } }),
  domains: await api.GET('/api/v1/dmarc/domains'),
  hosts: await api.GET('/api/v1/monitoring/hosts'),
  delisting: await api.GET('/api/v1/delisting/status'),
  filtered: await api.GET('/api/v1/delisting/status', {
    params: { query: { status: 'in-progress', page: 1, limit: 20 } },
  }),
  test: await api.POST('/api/v1/imap/test-connection', { body: account }),
  folders: await api.POST('/api/v1/imap/list-folders', { body: account }),
  migrate: await api.POST('/api/v1/imap/migrate', {
    body: { source: account, destination: account, folders: ['INBOX'] },
  }),
  report: await api.POST('/api/v1/abuse/report', { body: { ip: '8.8.4.4', service: 'ssh' } }),
  services: await api.GET('/api/v1/abuse/report'),
  newToken: await api.POST('/api/v1/abuse/tokens', { body: {} }),
  check: await api.GET('/api/v1/abuse/check', { params: { query: { ip: '8.8.4.4' } } }),
  stats: await api.GET('/api/v1/abuse/stats'),
  list: await api.GET('/api/v1/abuse/export', { parseAs: 'text' }),
  installer: await api.GET('/api/v1/abuse/fail2ban-install', { parseAs: 'text' }),
  config: await api.GET('/api/v1/abuse/fail2ban-config', { parseAs: 'text' }),
  endpoints: await browser.GET('/api/webhook/endpoints'),
  newEndpoint: await browser.POST('/api/webhook/endpoints', { body: {} }),
}

const reportToken: string = answers.newToken.data?.token ?? ''
const id: string = answers.newEndpoint.data?.endpoint.id ?? ''
const path = { id }
const more = {
  metrics: await api.GET('/api/v1/abuse/tokens/{token}', {
    params: { path: { token: reportToken } },
  }),
  captured: await browser.POST('/webhooks/{token}', {
    params: { path: { token: answers.newEndpoint.data?.endpoint.token ?? '' } },
    parseAs: 'text',
  }),
  changed: await browser.PUT('/api/webhook/endpoints/{id}', {
    params: { path },
    body: { responseStatus: 202 },
  }),
  requests: await browser.GET('/api/webhook/endpoints/{id}/requests', { params: { path } }),
  cleared: await browser.DELETE('/api/webhook/endpoints/{id}/requests', { params: { path } }),
  deleted: await browser.DELETE('/api/webhook/endpoints/{id}', { params: { path } }),
  migration: await api.GET('/api/v1/imap/migrate/{id}', { params: { path } }),
  reports: await api.GET('/api/v1/dmarc/domains/{id}/reports', { params: { path } }),
}

// Responses are typed: these lines do not compile when a field is missing from the description.
// Paused where the owner of a mailbox signs in first.
const status: 'pending' | 'paused' | undefined = answers.migrate.data?.status
const score: number | undefined = answers.report.data?.score
const pages: number | undefined = answers.delisting.data?.data.pagination.totalPages
const headerNames: string[] | undefined =
  more.requests.data && 'requests' in more.requests.data
    ? more.requests.data.requests.flatMap(({ headers: pairs }) =>
        pairs.map((pair) => pair.join(': ')),
      )
    : undefined
const failure: components['schemas']['Failure'] | undefined = answers.blacklist.error

const statuses = Object.entries({ ...answers, ...more }).map(([name, { response }]) => [
  name,
  response.status,
])
console.log(
  JSON.stringify({
    statuses: Object.fromEntries(statuses),
    status,
    score,
    pages,
    headerNames,
    failure,
  }),
)
