import type { Kysely } from 'kysely'
import { callerOf } from '../../http/auth.ts'
import { paginationOf, responses, sliceOf } from '../../http/http-schema.ts'
import { sendParts } from '../../http/send-parts.ts'
import type { App } from '../../http/http-server.ts'
import { parseHost } from '../../net/address.ts'
import type { DB } from '../../store/tables.ts'
import { MAX_HOSTS_PER_WORKSPACE } from '../limits.ts'
import { HostList, HostsQuery } from './shapes.ts'
import { describeHosts } from './describe-hosts.ts'
import { countByStatus, countHosts, listHostIds } from './host-list.sql.ts'
import { writeHosts } from './write-hosts.ts'

type Deps = { db: Kysely<DB> }

const DEFAULT_PAGE = { page: 1, limit: 20 }
const ALL = { limit: MAX_HOSTS_PER_WORKSPACE, offset: 0 }

/** `GET /api/v1/monitoring/hosts`: all hosts, or a page of them. */
export function listRoute(app: App, { db }: Deps): void {
  app.get(
    '/api/v1/monitoring/hosts',
    {
      schema: {
        summary: 'List monitored hosts',
        description:
          'Oldest first, unless ordered otherwise; `status` puts listed hosts first, then those with a problem of a certificate. ' +
          'With `page` or `limit`, the response is one page, and has `pagination` and `counts`. Without them, it has all hosts.',
        querystring: HostsQuery,
        response: responses(HostList),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      const { page, limit, sort: order, host, q, status } = request.query
      const filter = { q, status, host: host === undefined ? undefined : nameOf(host) }
      if (page === undefined && limit === undefined) {
        const ids = await listHostIds(db, workspaceId, { ...filter, order }, ALL)
        return sendParts(reply.type('application/json; charset=utf-8'), writeHosts(db, ids))
      }
      const wanted = { page: page ?? DEFAULT_PAGE.page, limit: limit ?? DEFAULT_PAGE.limit }
      const [ids, total, counts] = await Promise.all([
        listHostIds(db, workspaceId, { ...filter, order }, sliceOf(wanted)),
        countHosts(db, workspaceId, filter),
        countByStatus(db, workspaceId),
      ])
      const data = await describeHosts(db, ids)
      return { success: true, data, pagination: paginationOf(wanted, total), counts }
    },
  )
}

/** The name of a host as it is stored. @throws Fault `invalid_request` */
function nameOf(text: string): string {
  const host = parseHost(text)
  return host.kind === 'name' ? host.name : host.address
}
