import type { Kysely } from 'kysely'
import type { Static } from 'typebox'
import { callerOf } from '../../http/auth.ts'
import { paginationOf, responses, sliceOf } from '../../http/schema.ts'
import type { App } from '../../http/server.ts'
import { parseHost } from '../../net/address.ts'
import type { DB } from '../../store/tables.ts'
import { summarizeHosts, type HostSummary } from '../history/summaries.ts'
import { MAX_HOSTS_PER_WORKSPACE } from '../limits.ts'
import type { MonitoredHost } from '../shapes.ts'
import { HostList, HostsQuery } from './shapes.ts'
import { countByStatus, countHosts, listHosts, type ListedHostRow } from './store.ts'

type Deps = { db: Kysely<DB> }
type ListedHost = Omit<Static<typeof MonitoredHost>, keyof HostSummary>

const DEFAULT_PAGE = { page: 1, limit: 20 }
const ALL = { limit: MAX_HOSTS_PER_WORKSPACE, offset: 0 }

/** Hosts of a whole list that are summarized and written at once. */
const BATCH_HOSTS = 2_000

/** `GET /api/v1/monitoring/hosts`: all hosts, or a page of them. */
export function listRoute(app: App, deps: Deps): void {
  const { db } = deps
  app.get(
    '/api/v1/monitoring/hosts',
    {
      schema: {
        summary: 'List monitored hosts',
        description:
          'Oldest first, unless ordered otherwise; `status` puts listed hosts first, then those with a problem of a certificate. ' +
          'With `page` or `limit`, the response is one page, and has `pagination` and `counts`. Without them, it has all hosts.',
        tags: ['Monitoring'],
        querystring: HostsQuery,
        response: responses(HostList),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const { page, limit, sort: order, host, q, status } = request.query
      const filter = { q, status, host: host === undefined ? undefined : nameOf(host) }
      if (page === undefined && limit === undefined) {
        const rows = await listHosts(db, workspaceId, { ...filter, order }, ALL)
        const text = await writeAll(deps, rows)
        return reply.type('application/json; charset=utf-8').send(text)
      }
      const wanted = { page: page ?? DEFAULT_PAGE.page, limit: limit ?? DEFAULT_PAGE.limit }
      const [rows, total, counts] = await Promise.all([
        listHosts(db, workspaceId, { ...filter, order }, sliceOf(wanted)),
        countHosts(db, workspaceId, filter),
        countByStatus(db, workspaceId),
      ])
      const data = await describe(deps, rows)
      return { success: true, data, pagination: paginationOf(wanted, total), counts }
    },
  )
}

/** The name of a host as it is stored. @throws Fault `invalid_request` */
function nameOf(text: string): string {
  const host = parseHost(text)
  return host.kind === 'name' ? host.name : host.address
}

async function describe({ db }: Deps, rows: ListedHostRow[]) {
  const summaryOf = await summarizeHosts(db, idsOf(rows))
  return rows.map(({ id, json }) => ({ ...(JSON.parse(json) as ListedHost), ...summaryOf(id) }))
}

/**
 * Writes the response with all hosts, some at a time: other requests get their turn in between. It
 * joins JSON texts, because serializing each host takes longer than all of the rest.
 */
async function writeAll({ db }: Deps, rows: ListedHostRow[]): Promise<string> {
  const parts: string[] = []
  for (let at = 0; at < rows.length; at += BATCH_HOSTS) {
    const some = rows.slice(at, at + BATCH_HOSTS)
    const summaryOf = await summarizeHosts(db, idsOf(some))
    const texts = new Map<HostSummary, string>()
    for (const { id, json } of some) {
      const summary = summaryOf(id)
      const text = texts.get(summary) ?? JSON.stringify(summary).slice(1)
      texts.set(summary, text)
      parts.push(`${json.slice(0, -1)},${text}`)
    }
  }
  return `{"success":true,"data":[${parts.join()}]}`
}

const idsOf = (rows: ListedHostRow[]) => rows.map(({ id }) => id)
