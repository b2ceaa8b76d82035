import { responses } from '../../http/http-schema.ts'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { App } from '../../http/http-server.ts'
import type { AttackList } from '../attack-list.ts'
import { MAX_ROWS, readBulk, type BulkRow } from './bulk.ts'
import { requireService } from '../services.ts'
import {
  BulkReports,
  BulkResult,
  NewReport,
  ReportHeaders,
  ReportQuery,
  ReportResult,
} from '../shapes.ts'
import { readSubject } from '../subject.ts'
import { requireAllowed, tokenHashOf, serverOf } from './report-receipt.ts'
import type { AppliedOutcome } from './record-report.ts'

/** A thousand rows of AbuseIPDB's CSV, whose comments have 1,024 bytes each. */
const BODY_LIMIT = 2 * 1024 * 1024

const TEXT_TYPES = [
  'application/x-ndjson',
  'application/jsonl',
  'application/json',
  'text/csv',
  'text/plain',
]

type ReportDeps = Pick<AttackList, 'submit' | 'reporterOf' | 'clock'>

export function attackReportRoutes(app: App, deps: ReportDeps): void {
  reportRoute(app, deps)
  bulkRoute(app, deps)
}

function reportRoute(app: App, { submit, reporterOf }: ReportDeps): void {
  app.post(
    '/api/v1/abuse/report',
    {
      config: { key: 'report token' },
      schema: {
        summary: 'Report an attacker',
        operationId: 'reportAttacker',
        description:
          'Free and without an account. Up to 120 requests in five minutes from one address; the `RateLimit` header ' +
          'contains the remaining number.',
        headers: ReportHeaders,
        querystring: ReportQuery,
        body: NewReport,
        response: responses(ReportResult),
      },
    },
    async (request, reply) => {
      const { body } = request
      const subject = readSubject(body.ip)
      const service = requireService(body.service)
      const report = { subject, service: service.id, port: body.port ?? null, count: body.count }
      const receipt = await submit({
        reporter: reporterOf(request.ip),
        tokenHash: tokenHashOf(request),
        reports: [report],
      })
      requireAllowed(reply, receipt)
      const { ignored, ...outcome } = receipt.outcomes[0] as AppliedOutcome
      return {
        success: true as const,
        ip: subject.ip,
        service: service.id,
        category: service.category,
        ...outcome,
        ...(ignored && { ignored: true as const }),
        ...serverOf(receipt),
      }
    },
  )
}

function bulkRoute(app: App, { submit, reporterOf, clock }: ReportDeps): void {
  // In a context of its own, because only here a body is lines of text.
  void app.register(async (scope) => {
    scope.removeContentTypeParser('application/json')
    scope.addContentTypeParser(TEXT_TYPES, { parseAs: 'string' }, (_request, body, done) =>
      done(null, body),
    )
    scope.withTypeProvider<TypeBoxTypeProvider>().post(
      '/api/v1/abuse/report/bulk',
      {
        bodyLimit: BODY_LIMIT,
        config: { key: 'report token' },
        schema: {
          summary: `Report up to ${MAX_ROWS} attackers in one request`,
          operationId: 'reportAttackers',
          description:
            'One JSON object per line (`{"ip": "8.8.4.4", "service": "ssh"}`), or CSV with AbuseIPDB’s header ' +
            '`IP,Categories,ReportDate,Comment`, up to a day old; comments are not stored. The response names invalid rows, ' +
            'and the others are accepted. Counts as one request.',
          headers: ReportHeaders,
          querystring: ReportQuery,
          body: BulkReports,
          consumes: ['application/x-ndjson', 'text/csv'],
          response: responses(BulkResult),
        },
      },
      async (request, reply) => {
        const rows = readBulk(request.body, clock())
        const reports = rows.flatMap((row) => ('report' in row ? row.report : []))
        const receipt = await submit({
          reporter: reporterOf(request.ip),
          tokenHash: tokenHashOf(request),
          reports,
        })
        requireAllowed(reply, receipt)
        const count = (of: 'deduped' | 'ignored') =>
          receipt.outcomes.filter((outcome) => outcome[of]).length
        const [deduped, ignored] = [count('deduped'), count('ignored')]
        const accepted = reports.length - deduped - ignored
        const data = {
          accepted,
          deduped,
          ignored,
          rejected: rejectedIn(rows),
          ...serverOf(receipt),
        }
        return { success: true, data }
      },
    )
  })
}

function rejectedIn(rows: BulkRow[]): { line: number; error: string }[] {
  return rows.flatMap((row) => ('error' in row ? { line: row.line, error: row.error } : []))
}
