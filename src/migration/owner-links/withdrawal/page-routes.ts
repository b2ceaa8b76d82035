import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { acceptForms } from '../../../http/accept-forms.ts'
import { PAGE_HEADERS } from '../../../http/plain-page.ts'
import type { App } from '../../../http/server.ts'
import type { Enqueue } from '../../../jobs/job.ts'
import { hashOfToken, TOKEN_LENGTH } from '../token.ts'
import { accessPage, unknownPage, withdrawnPage } from './pages.ts'
import { findAccess } from './store.ts'
import { OWNER_ACCESS_PATH, withdrawAccess, type WithdrawDeps } from './withdraw.ts'

const URL = `${OWNER_ACCESS_PATH}/:token`
const params = Type.Object({ token: Type.String({ maxLength: TOKEN_LENGTH }) })

/**
 * `/mailbox-access/{token}`: the page of an owner who has signed in, on which only they can withdraw
 * that. Reading it changes nothing.
 */
export function ownerAccessRoutes(app: App, deps: WithdrawDeps & { enqueue: Enqueue }): void {
  const config = { limit: 'sign-in attempts' } as const
  void app.register(async (scope) => {
    acceptForms(scope)
    const routes = scope.withTypeProvider<TypeBoxTypeProvider>()
    routes.get(URL, { config, schema: { hide: true, params } }, async (request, reply) => {
      const access = await findAccess(deps.db, hashOfToken(request.params.token))
      return access ? send(reply, accessPage(access)) : send(reply.code(404), unknownPage())
    })
    routes.post(URL, { config, schema: { hide: true, params } }, async (request, reply) => {
      const access = await findAccess(deps.db, hashOfToken(request.params.token))
      if (!access) return send(reply.code(404), unknownPage())
      if (access.withdrawnAt !== null || !access.isStored) return send(reply, accessPage(access))
      const revocation = await withdrawAccess(deps, access, deps.enqueue)
      return send(reply, withdrawnPage(access[access.side].user, revocation))
    })
  })
}

function send(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(page)
}
