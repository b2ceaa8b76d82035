import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { App } from '../../http/http-server.ts'
import type { AttackList } from '../../abuse/attack-list.ts'
import { blacklistRoute } from './blacklist-route.ts'
import { guardOf } from './caller.ts'
import { checkRoutes } from './check-routes.ts'
import { Fault } from '../../errors.ts'
import { sendFailure } from './abuseipdb-failures.ts'
import type { Endpoint } from './quota-counter.ts'
import { createQuotas } from './token-quotas.ts'
import { reportRoutes } from './abuseipdb-report-routes.ts'

/**
 * `/api/v2/…`: AbuseIPDB’s API with its paths, parameters, fields and failures, for scripts that
 * were written for it. The key is a report token.
 */
export function abuseIpdbRoutes(app: App, abuse: AttackList): void {
  void app.register(async (plain) => {
    const scope = plain.withTypeProvider<TypeBoxTypeProvider>() as App
    scope.setErrorHandler(sendFailure)
    acceptForms(scope)
    const quotas = createQuotas(abuse)
    scope.addHook('onClose', () => quotas.close())
    const guard = (endpoint: Endpoint) => guardOf(abuse, quotas, endpoint)
    checkRoutes(scope, abuse, guard)
    blacklistRoute(scope, abuse, guard)
    reportRoutes(scope, abuse, guard)
  })
}

function acceptForms(scope: App): void {
  scope.addContentTypeParser(
    'application/x-www-form-urlencoded',
    { parseAs: 'string' },
    (_request, body, done) => done(null, Object.fromEntries(new URLSearchParams(body as string))),
  )
  scope.addContentTypeParser(
    'multipart/form-data',
    { parseAs: 'buffer' },
    async (request: FastifyRequest, body: Buffer) => filesAsText(request, body),
  )
}

/** The fields of a form, with files as text. */
async function filesAsText(request: FastifyRequest, body: Buffer): Promise<Record<string, string>> {
  const type = request.headers['content-type'] ?? ''
  const response = new Response(new Uint8Array(body), { headers: { 'content-type': type } })
  const form = await response.formData().catch(() => {
    throw new Fault('invalid_request', 'The form is malformed.')
  })
  const fields = [...form].map(async ([name, value]) => [
    name,
    typeof value === 'string' ? value : await value.text(),
  ])
  return Object.fromEntries(await Promise.all(fields))
}
