import { responses } from '../../http/http-schema.ts'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import type { App } from '../../http/http-server.ts'
import { MAX_DELIVERY_BYTES, MAX_UPLOAD_FILES } from '../limits.ts'
import type { RouteDeps } from '../route-deps.ts'
import { UploadBody, Uploaded } from '../shapes.ts'
import { requireFileStorage } from '../storage/report-quota.ts'
import { parseFormFiles } from './form-files.ts'
import { domainOfReason } from './unknown-domain.ts'
import { ingest, notifyOutcome, type GivenFile } from './ingest.ts'

/** Rejected files named in one response; `/dmarc/rejected` lists the others. */
const MAX_NAMED_REJECTIONS = 1_000

/**
 * POST `/api/v1/dmarc/reports`: a report, an archive or an email as the body, or a form with
 * several.
 */
export function uploadRoute(app: App, deps: RouteDeps): void {
  // A scope of its own: its bodies are bytes, whatever the content type.
  void app.register(async (scope) => {
    acceptAnyContentType(scope)
    addRoute(scope, deps)
  })
}

function acceptAnyContentType(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser(
    '*',
    { parseAs: 'buffer', bodyLimit: MAX_DELIVERY_BYTES },
    (_request, body, done) => {
      done(null, body)
    },
  )
  // The body's schema is documentation only.
  const compile = scope.validatorCompiler
  scope.setValidatorCompiler((route) =>
    route.httpPart === 'body' || !compile ? () => true : compile(route),
  )
}

function addRoute(app: App, { db, onReports, kept: { fileDays } }: RouteDeps): void {
  app.post(
    '/api/v1/dmarc/reports',
    {
      config: { limit: 'report uploads', unaudited: true },
      bodyLimit: MAX_DELIVERY_BYTES,
      schema: {
        summary: 'Upload reports',
        operationId: 'uploadDmarcReports',
        description: `Accepts a report in any format: XML, JSON, gzip, zip, or a complete email. The content decides, not the name or type. Send several reports in a zip, or as a form (\`multipart/form-data\`, up to ${MAX_UPLOAD_FILES} files). The limit is 25 MB. Reports counted as stored are committed to the database.`,
        body: UploadBody,
        querystring: Type.Object({
          name: Type.Optional(Type.String({ maxLength: 255, description: 'Name of the file.' })),
        }),
        response: responses(Uploaded),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const files = filesOf(request.body, request.headers['content-type'] ?? '', request.query.name)
      const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0)
      await requireFileStorage(db, workspaceId, bytes, fileDays)
      const outcome = await ingest(db, { via: 'upload', workspaceId }, files)
      notifyOutcome('upload', outcome, onReports)
      const { stored, duplicates, failureReports, rejected, domains } = outcome
      return {
        success: true,
        data: {
          stored,
          duplicates,
          failureReports,
          rejected: rejected
            .slice(0, MAX_NAMED_REJECTIONS)
            .map((one) => ({ ...one, domain: domainOfReason(one.reason) })),
          domains: Array.from(domains, ([id, rest]) => ({ id, ...rest })),
        },
      }
    },
  )
}

function filesOf(body: unknown, contentType: string, name = 'upload'): GivenFile[] {
  if (!Buffer.isBuffer(body) || body.length === 0) {
    throw new Fault(
      'invalid_request',
      'The body is empty. Send a report, an archive or an email as the body.',
    )
  }
  const files = parseFormFiles(body, contentType) ?? [{ name, bytes: body }]
  if (files.length === 0)
    throw new Fault('invalid_request', 'The form contains no file. Add at least one file.')
  if (files.length <= MAX_UPLOAD_FILES) return files
  throw new Fault(
    'too_large',
    `The form has more than ${MAX_UPLOAD_FILES} files. Send up to ${MAX_UPLOAD_FILES} files at once.`,
  )
}
