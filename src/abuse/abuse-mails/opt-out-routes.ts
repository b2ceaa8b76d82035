import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { Html, markup } from '../../http/markup.ts'
import { PAGE_HEADERS, plainPage } from '../../http/plain-page.ts'
import type { App } from '../../http/server.ts'
import type { Db } from '../../store/database.ts'
import { optOutPage as messages } from './messages.ts'
import { hashEmail, readOptOutToken } from './opt-out.ts'
import { insertOptOut } from './store.ts'

export const OPT_OUT_PATH = '/abuse-reports/opt-out'
/** Bytes of the form of the page, which has no fields. */
const MAX_FORM_BYTES = 4_096

const params = Type.Object({ token: Type.String({ maxLength: 500 }) })

/** The link in an abuse email: a page with a button, because link scanners open every link. */
export function optOutRoutes(app: App, { db, optOutKey }: { db: Db; optOutKey: string }): void {
  const config = { limit: 'public pages' } as const
  const nothing = new Html('')
  // In a context of its own, because only here a body is a form.
  void app.register(async (scope) => {
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, _body, done) =>
      done(null, null),
    )
    const routes = scope.withTypeProvider<TypeBoxTypeProvider>()
    routes.get(
      `${OPT_OUT_PATH}/:token`,
      { config, schema: { hide: true, params } },
      async (request, reply) => {
        if (readOptOutToken(optOutKey, request.params.token) === null) return sendUnknown(reply)
        const button = markup`<form method="post"><button type="submit">${messages.button}</button></form>`
        return send(reply, plainPage(messages.title, messages.question, button))
      },
    )
    routes.post(
      `${OPT_OUT_PATH}/:token`,
      { config, bodyLimit: MAX_FORM_BYTES, schema: { hide: true, params } },
      async (request, reply) => {
        const email = readOptOutToken(optOutKey, request.params.token)
        if (email === null) return sendUnknown(reply)
        await insertOptOut(db, hashEmail(email), 'link')
        return send(reply, plainPage(messages.done, messages.doneText, nothing))
      },
    )
  })
  const sendUnknown = (reply: FastifyReply) =>
    send(reply.code(404), plainPage(messages.unknown, messages.unknownText, nothing))
}

function send(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(page)
}
