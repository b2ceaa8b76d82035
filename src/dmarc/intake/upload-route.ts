import { answers, security } from '../../http/schema.ts'
import type { FastifyInstance } from 'fastify'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf } from '../../http/auth.ts'
import type { App } from '../../http/server.ts'
import { DELIVERY_BYTES, UPLOAD_FILES } from '../limits.ts'
import { tags, type RouteDeps } from '../route.ts'
import { UploadBody, Uploaded } from '../shapes.ts'
import { requireFileRoom } from '../storage/quota.ts'
import { formFiles } from './form-files.ts'
import { ingest, tellOutcome, type GivenFile } from './ingest.ts'

/** Failures that one answer names; the others stand in the list of what was rejected. */
const MOST_REJECTED = 1_000

/** POST `/api/v1/dmarc/reports`: a report, an archive or a mail as the body, or a form with many of them. */
export function uploadRoute(app: App, deps: RouteDeps): void {
  // In a scope of its own: here a body is bytes, whatever its content type says.
  void app.register(async (scope) => {
    takeAnything(scope)
    addRoute(scope, deps)
  })
}

function takeAnything(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit: DELIVERY_BYTES }, (_request, body, done) => {
    done(null, body)
  })
  // The schema of the body only describes it.
  const compile = scope.validatorCompiler
  scope.setValidatorCompiler((route) => (route.httpPart === 'body' || !compile ? () => true : compile(route)))
}

function addRoute(app: App, { db, authHooks, onReports, kept: { fileDays } }: RouteDeps): void {
  app.post(
    '/api/v1/dmarc/reports',
    {
      config: { limit: 'report uploads' },
      onRequest: authHooks.account,
      bodyLimit: DELIVERY_BYTES,
      schema: {
        summary: 'Upload reports on my domains',
        operationId: 'uploadDmarcReports',
        description: `A report as it came, of any kind and in any wrapping: XML, JSON, gzip, zip, or the whole mail; what it is shows in its content. Many at once in a zip, or as a form (\`multipart/form-data\`, at most ${UPLOAD_FILES} files). At most 25 MB. What the answer calls stored is stored for good.`,
        tags,
        security,
        body: UploadBody,
        querystring: Type.Object({
          name: Type.Optional(Type.String({ maxLength: 255, description: 'What to call it.' })),
        }),
        response: answers(Uploaded),
      },
    },
    async (request) => {
      const { accountId } = callerOf(request)
      const files = filesOf(request.body, request.headers['content-type'] ?? '', request.query.name)
      const bytes = files.reduce((sum, file) => sum + file.bytes.length, 0)
      await requireFileRoom(db, accountId, bytes, fileDays)
      const outcome = await ingest(db, { via: 'upload', accountId }, files)
      tellOutcome('upload', outcome, onReports)
      const { stored, duplicates, failureReports, rejected } = outcome
      return {
        success: true,
        data: { stored, duplicates, failureReports, rejected: rejected.slice(0, MOST_REJECTED) },
      }
    },
  )
}

function filesOf(body: unknown, contentType: string, name = 'upload'): GivenFile[] {
  if (!Buffer.isBuffer(body) || body.length === 0) {
    throw new Fault('invalid_request', 'Send a report, an archive or a mail as the body.')
  }
  const files = formFiles(body, contentType) ?? [{ name, bytes: body }]
  if (files.length === 0) throw new Fault('invalid_request', 'There is no file in this form.')
  if (files.length <= UPLOAD_FILES) return files
  throw new Fault('too_large', `One form holds at most ${UPLOAD_FILES} files.`)
}
