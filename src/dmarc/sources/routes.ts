import { Type } from 'typebox'
import { callerOf } from '../../http/auth.ts'
import { responses, paginationOf, sliceOf, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { requireDomain } from '../domains/domains.ts'
import type { RouteDeps } from '../route-deps.ts'
import { SourceDetail, SourceRecordPage, SourceRecordQuery, SummaryQuery } from '../shapes.ts'
import { findRange } from '../summary/range.ts'
import { describeSource, listSourceRecords, parseSourceAddress } from './describe-source.ts'

const params = Type.Object({
  id: Uuid,
  address: Type.String({ maxLength: 100, description: 'An IPv4 or IPv6 address.' }),
})

/** `…/sources/{address}`: one address that sends as the domain, and its records. */
export function sourceRoutes(app: App, { db, findAsn }: RouteDeps): void {
  app.get(
    '/api/v1/dmarc/domains/:id/sources/:address',
    {
      schema: {
        summary: 'Get a source with its counts, identities and recommended actions',
        params,
        querystring: SummaryQuery,
        response: responses(SourceDetail),
      },
    },
    async (request) => {
      const domain = await requireDomain(db, callerOf(request).workspaceId, request.params.id)
      const address = parseSourceAddress(request.params.address)
      const range = await findRange(db, domain.id, request.query)
      return { success: true, data: await describeSource(db, domain, address, range, findAsn) }
    },
  )
  app.get(
    '/api/v1/dmarc/domains/:id/sources/:address/records',
    {
      schema: {
        summary: 'List the records of a source, newest first',
        params,
        querystring: SourceRecordQuery,
        response: responses(SourceRecordPage),
      },
    },
    async (request) => {
      const { period, from, to, result, orgName, ...page } = request.query
      const domain = await requireDomain(db, callerOf(request).workspaceId, request.params.id)
      const wanted = {
        address: parseSourceAddress(request.params.address),
        range: await findRange(db, domain.id, { period, from, to }),
        filter: { result, orgName },
      }
      const { records, total } = await listSourceRecords(db, domain, wanted, sliceOf(page))
      return { success: true, data: { records, pagination: paginationOf(page, total) } }
    },
  )
}
