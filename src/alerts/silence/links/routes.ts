import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { acceptForms } from '../../../http/accept-forms.ts'
import { PAGE_HEADERS } from '../../../http/plain-page.ts'
import type { App } from '../../../http/server.ts'
import type { DB } from '../../../store/tables.ts'
import { actByLink, auditEntryOf, type WriteAudit } from './act.ts'
import { ACTIONS, LINK_PATH } from './action-links.ts'
import { donePage, questionPage, refusalPage, type Refusal } from './page.ts'
import { findLinkTarget, type LinkTarget } from './store.ts'
import { readLinkToken, TOKEN_LENGTH, type LinkSubject } from './token.ts'

export type LinkRoutesDeps = {
  db: Kysely<DB>
  secretKey: string
  previousKey: string | undefined
  baseUrl: string
  writeAudit: WriteAudit
}

const URL = `${LINK_PATH}/:token`
/** Bytes; the form has two short fields. */
const MAX_FORM_BYTES = 1_024

const params = Type.Object({ token: Type.String({ maxLength: TOKEN_LENGTH }) })
const querystring = Type.Object({ do: Type.Optional(Type.Enum([...ACTIONS])) })
const body = Type.Object({
  action: Type.Enum([...ACTIONS]),
  minutes: Type.Optional(Type.String({ pattern: '^\\d{1,6}$', maxLength: 6 })),
})

type Opened = { subject: LinkSubject; target: LinkTarget } | { refusal: Refusal }

/**
 * `/alerts/act/{token}`, the links in a message: a page that needs no login. Reading it changes
 * nothing, so that previews and link scanners do no harm; its form acts once.
 */
export function linkRoutes(app: App, deps: LinkRoutesDeps): void {
  const dashboardUrl = `${deps.baseUrl}/alerts`
  const config = { limit: 'public pages' } as const
  const refuse = (reply: FastifyReply, reason: Refusal) =>
    send(reply.code(reason === 'unknown' ? 404 : 410), refusalPage(reason, dashboardUrl))
  // In a context of its own, because only here a body is a form.
  void app.register(async (scope) => {
    acceptForms(scope)
    const routes = scope.withTypeProvider<TypeBoxTypeProvider>()
    routes.get(
      URL,
      { config, schema: { hide: true, params, querystring } },
      async (request, reply) => {
        const opened = await open(deps, request.params.token)
        if ('refusal' in opened) return refuse(reply, opened.refusal)
        return send(reply, questionPage(opened.target.title, request.query.do ?? 'acknowledge'))
      },
    )
    routes.post(
      URL,
      { config, bodyLimit: MAX_FORM_BYTES, schema: { hide: true, params, querystring, body } },
      async (request, reply) => {
        const opened = await open(deps, request.params.token)
        if ('refusal' in opened) return refuse(reply, opened.refusal)
        const { subject, target } = opened
        const done = await actByLink(deps.db, subject, target, request.body)
        if (done === null) return refuse(reply, 'used')
        await deps.writeAudit(auditEntryOf(target, request.body, `POST ${URL}`))
        return send(reply, donePage(done, target.title, dashboardUrl))
      },
    )
  })
}

async function open(
  { db, secretKey, previousKey }: LinkRoutesDeps,
  token: string,
): Promise<Opened> {
  const keys = [secretKey, ...(previousKey ? [previousKey] : [])]
  const subject = readLinkToken(keys, token, Date.now())
  if (!subject) return { refusal: 'unknown' }
  if (subject.isExpired) return { refusal: 'expired' }
  const target = await findLinkTarget(db, subject)
  if (!target) return { refusal: 'unknown' }
  if (target.isUsed) return { refusal: 'used' }
  return target.hasEnded ? { refusal: 'ended' } : { subject, target }
}

function send(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(page)
}
