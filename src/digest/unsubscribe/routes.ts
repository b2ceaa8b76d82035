import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { App } from '../../http/server.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DigestDeps } from '../delivery/email.ts'
import { unsubscribe } from '../store.ts'
import { PAGE_HEADERS } from '../../http/plain-page.ts'
import { donePage, questionPage, unknownPage } from './page.ts'
import { readUnsubscribeToken } from './token.ts'

const URL = '/digest/unsubscribe/:token'
/** Bytes; RFC 8058 has one short form field. */
const MAX_FORM_BYTES = 4_096

const params = Type.Object({ token: Type.String({ maxLength: 200 }) })

/**
 * `/digest/unsubscribe/{token}`, the link in an email: a page for people, and for mail clients the
 * POST of RFC 8058, which needs no login and may be repeated.
 */
export function unsubscribeRoutes(app: App, deps: DigestDeps): void {
  const keys = [deps.secretKey, ...(deps.previousKey ? [deps.previousKey] : [])]
  const settingsUrl = `${deps.baseUrl}/alerts/digest`
  const config = { limit: 'public pages' } as const
  // In a context of its own, because only here a body is a form.
  void app.register(async (scope) => {
    acceptForms(scope)
    const routes = scope.withTypeProvider<TypeBoxTypeProvider>()
    routes.get(URL, { config, schema: { hide: true, params } }, async (request, reply) =>
      readUnsubscribeToken(keys, request.params.token)
        ? send(reply, questionPage())
        : send(reply.code(404), unknownPage(settingsUrl)),
    )
    routes.post(
      URL,
      { config, bodyLimit: MAX_FORM_BYTES, schema: { hide: true, params } },
      async (request, reply) => {
        const member = readUnsubscribeToken(keys, request.params.token)
        if (!member) return send(reply.code(404), unknownPage(settingsUrl))
        if (await unsubscribe(deps.db, member))
          await notifyChange(deps.db, member.workspaceId, 'alerts')
        return send(reply, donePage(`${settingsUrl}?workspace=${member.workspaceId}`))
      },
    )
  })
}

/**
 * Mail providers send `List-Unsubscribe=One-Click` in either form encoding (RFC 8058, section 3.2).
 * The token alone decides, so that a client that sends something else is unsubscribed, too.
 */
function acceptForms(scope: App): void {
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) =>
    done(null, null),
  )
}

function send(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(page)
}
