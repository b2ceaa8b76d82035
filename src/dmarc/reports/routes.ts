import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import {
  responses,
  responsesAs,
  Bytes,
  PageQuery,
  paginationOf,
  sliceOf,
  Success,
  Uuid,
} from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { requireDomain } from '../domains/domains.ts'
import { domainOfReason } from '../intake/unknown-domain.ts'
import { RECORDS_PER_PART } from '../limits.ts'
import { byId, type RouteDeps } from '../route-deps.ts'
import {
  AggregateReport,
  RecordPage,
  RecordQuery,
  RejectedPage,
  ReportPage,
  ReportQuery,
  Summary,
  SummaryQuery,
  TlsReportPage,
} from '../shapes.ts'
import { findRange } from '../summary/range.ts'
import { summarize } from '../summary/summary.ts'
import { presentRecord, presentReport, presentTlsReport } from './present-report.ts'
import {
  countReports,
  countRejected,
  countTlsReports,
  findOriginal,
  findRecords,
  findReport,
  listReports,
  listRejected,
  listTlsReports,
} from './dmarc-reports.sql.ts'

const oneReport = Type.Object({ id: Uuid, reportId: Uuid })

/** The reports of a domain, its summary, and the rejected reports of the workspace. */
export function dmarcReportRoutes(app: App, deps: RouteDeps): void {
  listRoutes(app, deps)
  oneReportRoutes(app, deps)
  rejectedRoutes(app, deps)
}

function listRoutes(app: App, { db, findAsn }: RouteDeps): void {
  app.get(
    '/api/v1/dmarc/domains/:id/reports',
    {
      schema: {
        summary: 'List aggregate reports',
        description: 'Newest first, unless ordered otherwise.',
        params: byId,
        querystring: ReportQuery,
        response: responses(ReportPage),
      },
    },
    async (request, reply) => {
      const { from, to, orgName, result, sort: order, records, ...page } = request.query
      const { id, domain } = await requireDomain(
        db,
        callerOf(request).workspaceId,
        request.params.id,
      )
      const filter = { from: dateOf(from), to: dateOf(to), orgName, failing: result === 'fail' }
      const total = await countReports(db, id, filter)
      const rows = await listReports(db, id, { ...filter, order, records }, sliceOf(page))
      const reports = rows.map((row) => presentReport(row, domain))
      // All fields are in the schema, whose serializer takes three times as long for 20 × 500 records.
      return reply
        .type('application/json; charset=utf-8')
        .serializer(JSON.stringify)
        .send({ success: true, data: { reports, pagination: paginationOf(page, total) } })
    },
  )
  app.get(
    '/api/v1/dmarc/domains/:id/summary',
    {
      schema: {
        summary: 'Summarize a domain’s senders and its readiness for a stricter policy',
        params: byId,
        querystring: SummaryQuery,
        response: responses(Summary),
      },
    },
    async (request) => {
      const domain = await requireDomain(db, callerOf(request).workspaceId, request.params.id)
      const range = await findRange(db, domain.id, request.query)
      return { success: true, data: await summarize(db, domain, range, findAsn) }
    },
  )
  app.get(
    '/api/v1/dmarc/domains/:id/tls-reports',
    {
      schema: {
        summary: 'List SMTP TLS reports (RFC 8460), newest first',
        params: byId,
        querystring: PageQuery,
        response: responses(TlsReportPage),
      },
    },
    async (request) => {
      const { id } = await requireDomain(db, callerOf(request).workspaceId, request.params.id)
      const total = await countTlsReports(db, id)
      const rows = await listTlsReports(db, id, sliceOf(request.query))
      return {
        success: true,
        data: {
          reports: rows.map(presentTlsReport),
          pagination: paginationOf(request.query, total),
        },
      }
    },
  )
}

function oneReportRoutes(app: App, { db }: RouteDeps): void {
  async function found(workspaceId: string, { id, reportId }: { id: string; reportId: string }) {
    const { domain } = await requireDomain(db, workspaceId, id)
    const row = await findReport(db, id, reportId)
    if (!row)
      throw new Fault(
        'not_found',
        'Report not found for this domain. List its reports for valid IDs.',
      )
    return { row, domain }
  }

  app.get(
    '/api/v1/dmarc/domains/:id/reports/:reportId',
    {
      schema: {
        summary: 'Get an aggregate report',
        params: oneReport,
        response: responses(Success(AggregateReport)),
      },
    },
    async (request) => {
      const { row, domain } = await found(callerOf(request).workspaceId, request.params)
      return { success: true, data: presentReport(row, domain) }
    },
  )
  app.get(
    '/api/v1/dmarc/domains/:id/reports/:reportId/records',
    {
      schema: {
        summary: `List the records of a report, ${RECORDS_PER_PART} per page`,
        params: oneReport,
        querystring: RecordQuery,
        response: responses(RecordPage),
      },
    },
    async (request) => {
      const { page } = request.query
      const { row, domain } = await found(callerOf(request).workspaceId, request.params)
      const records = await findRecords(db, row.id, page - 1)
      return {
        success: true,
        data: {
          records: records.map((record) => presentRecord(record, domain)),
          pagination: paginationOf({ page, limit: RECORDS_PER_PART }, row.recordCount),
        },
      }
    },
  )
  app.get(
    '/api/v1/dmarc/domains/:id/reports/:reportId/raw',
    {
      schema: {
        summary: 'Download the original file or email of a report',
        params: oneReport,
        produces: ['application/octet-stream'],
        response: responsesAs('application/octet-stream', Bytes, 'The file'),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      await found(workspaceId, request.params)
      return sendContent(reply, await findOriginal(db, workspaceId, request.params.reportId))
    },
  )
}

function rejectedRoutes(app: App, { db }: RouteDeps): void {
  app.get(
    '/api/v1/dmarc/rejected',
    {
      schema: {
        summary: 'List rejected reports with the reason, newest first',
        querystring: PageQuery,
        response: responses(RejectedPage),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const total = await countRejected(db, workspaceId)
      const rows = await listRejected(db, workspaceId, sliceOf(request.query))
      const rejected = rows.map(({ hasContent, ...row }) => ({
        ...row,
        domain: domainOfReason(row.reason),
        kept: hasContent,
      }))
      return { success: true, data: { rejected, pagination: paginationOf(request.query, total) } }
    },
  )
  app.get(
    '/api/v1/dmarc/rejected/:id/raw',
    {
      schema: {
        summary: 'Download the original of a rejected report',
        params: byId,
        produces: ['application/octet-stream'],
        response: responsesAs('application/octet-stream', Bytes, 'The file'),
      },
    },
    async (request, reply) => {
      return sendContent(
        reply,
        await findOriginal(db, callerOf(request).workspaceId, request.params.id),
      )
    },
  )
}

/** Sends a file from an untrusted sender as a download, so that no browser renders it. */
function sendContent(
  reply: FastifyReply,
  found: { name: string; content: Buffer } | undefined,
): FastifyReply {
  if (!found)
    throw new Fault(
      'not_found',
      'No original is stored under this ID: it expired, exceeded the storage limit, or was never kept.',
    )
  const name = encodeURIComponent(found.name)
  return reply
    .header('content-disposition', `attachment; filename*=UTF-8''${name}`)
    .type('application/octet-stream')
    .send(found.content)
}

function dateOf(text: string | undefined): Date | undefined {
  return text === undefined ? undefined : new Date(text)
}
