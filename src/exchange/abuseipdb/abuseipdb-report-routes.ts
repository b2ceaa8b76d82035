import type { FastifyReply } from 'fastify'
import { messageOf } from '../../errors.ts'
import type { App } from '../../http/http-server.ts'
import type { AttackList } from '../../abuse/attack-list.ts'
import { MAX_ROWS, readCsvRows, reportOfFields } from '../../abuse/intake/bulk.ts'
import { withdrawReports } from '../../fleet/bans/withdraw-reports.ts'
import type { SubmissionResult } from '../../abuse/intake/commit.ts'
import { tooMany } from '../../abuse/intake/rate.ts'
import type { AttackReport } from '../../abuse/intake/record-report.ts'
import { serviceOfCategories } from '../../abuse/services.ts'
import { hashReportToken } from '../../abuse/tokens/report-tokens.ts'
import { clearReports } from './clear-reports.ts'
import { ParameterError } from './abuseipdb-failures.ts'
import { readCategories, readIp, readPublicIp, readText, requireRecent } from './parameters.ts'
import { callerOf, parametersOf, type Guard } from './caller.ts'
import * as shapes from './shapes.ts'

/** A thousand rows of CSV whose comments have 1,024 bytes each, in a form. */
const BODY_LIMIT = 2 * 1024 * 1024

export function reportRoutes(app: App, abuse: AttackList, guard: Guard): void {
  reportRoute(app, abuse, guard)
  bulkRoute(app, abuse, guard)
  clearRoute(app, abuse, guard)
}

function reportRoute(
  app: App,
  { submit, reporterOf, clock }: Pick<AttackList, 'submit' | 'reporterOf' | 'clock'>,
  guard: Guard,
): void {
  app.post(
    '/api/v2/report',
    {
      config: { key: 'report token' },
      preValidation: guard('report'),
      schema: {
        ...shapes.describe('reportAbuseIpdb', 'Report an attacker, as AbuseIPDB’s API'),
        description:
          'Categories are mapped to services. The comment is not stored. A repetition is no failure: the answer is the same.',
        querystring: shapes.ReportParameters,
        body: shapes.ReportBody,
        consumes: shapes.FORMS,
        response: shapes.responses(shapes.ReportResult),
      },
    },
    async (request, reply) => {
      const parameters = parametersOf(request)
      const subject = readPublicIp(parameters, 'ip')
      const service = serviceOfCategories(readCategories(parameters))
      if (!service) throw new ParameterError('categories', 'The categories parameter is required.')
      requireRecent(parameters, clock())
      const report = { subject, service: service.id, port: null, count: 1 }
      const receipt = await submit({
        reporter: reporterOf(request.ip),
        tokenHash: hashReportToken(callerOf(request).key),
        reports: [report],
      })
      requireAllowed(receipt, reply)
      const score = receipt.outcomes[0]?.score ?? 0
      return { data: { ipAddress: subject.ip, abuseConfidenceScore: Math.round(score) } }
    },
  )
}

/** @throws Fault `rate_limited` */
function requireAllowed({ allowance }: SubmissionResult, reply: FastifyReply): void {
  if (allowance.allowed) return
  reply.header('x-ratelimit-remaining', '0')
  throw tooMany(allowance)
}

function bulkRoute(
  app: App,
  { submit, reporterOf, clock }: Pick<AttackList, 'submit' | 'reporterOf' | 'clock'>,
  guard: Guard,
): void {
  app.post(
    '/api/v2/bulk-report',
    {
      bodyLimit: BODY_LIMIT,
      config: { key: 'report token' },
      preValidation: guard('bulk-report'),
      schema: {
        ...shapes.describe(
          'reportAbuseIpdbBulk',
          `Report up to ${MAX_ROWS} attackers, as AbuseIPDB’s API`,
        ),
        description: 'A form with the file `csv`: `IP,Categories,ReportDate,Comment`, up to 2 MiB.',
        body: shapes.BulkBody,
        consumes: ['multipart/form-data', ...shapes.FORMS],
        response: shapes.responses(shapes.BulkResult),
      },
    },
    async (request, reply) => {
      const rows = readCsvRows(readText(parametersOf(request), 'csv'))
      if (rows.length > MAX_ROWS)
        throw new ParameterError('csv', `A file can have up to ${MAX_ROWS} rows.`)
      const invalidReports: { error: string; input: string; rowNumber: number }[] = []
      const reports: AttackReport[] = []
      for (const { line, fields } of rows) {
        try {
          reports.push(reportOfFields(fields, clock()))
        } catch (error) {
          const input = (fields[0] ?? '').slice(0, 100)
          invalidReports.push({ error: messageOf(error), input, rowNumber: line })
        }
      }
      if (reports.length > 0) {
        const reporter = reporterOf(request.ip)
        const tokenHash = hashReportToken(callerOf(request).key)
        requireAllowed(await submit({ reporter, tokenHash, reports }), reply)
      }
      return { data: { savedReports: reports.length, invalidReports } }
    },
  )
}

function clearRoute(app: App, abuse: AttackList, guard: Guard): void {
  app.delete(
    '/api/v2/clear-address',
    {
      config: { limit: 'address look-ups', key: 'report token' },
      preValidation: guard('clear-address'),
      schema: {
        ...shapes.describe(
          'clearAbuseIpdbAddress',
          'Delete the reports of a token about an address, as AbuseIPDB’s API',
        ),
        description:
          'With their evidence, unless others in the same network reported it too. The fleet unbans the address, unless ' +
          'another server reported it or a member banned it.',
        querystring: shapes.ClearParameters,
        body: shapes.ClearBody,
        consumes: shapes.FORMS,
        response: shapes.responses(shapes.ClearResult),
      },
    },
    async (request) => {
      const { subject } = readIp(parametersOf(request), 'ipAddress')
      if (!subject) return { data: { numReportsDeleted: 0 } }
      const { owner } = callerOf(request)
      const now = abuse.clock()
      const numReportsDeleted = await clearReports(abuse, { tokenId: owner.id, subject }, now)
      await withdrawReports(abuse.db, owner, subject.key, now)
      return { data: { numReportsDeleted } }
    },
  )
}
