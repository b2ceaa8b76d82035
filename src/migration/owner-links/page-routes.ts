import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { basePathOf } from '../../setting-values.ts'
import { acceptForms } from '../../http/accept-forms.ts'
import { PAGE_HEADERS } from '../../http/plain-page.ts'
import type { App } from '../../http/server.ts'
import type { Enqueue } from '../../jobs/job.ts'
import type { OAuthClients } from '../../mail-credentials/access-token.ts'
import { ownerCookie } from '../../mail-credentials/consent/callback-route.ts'
import type { StartOwnerConsent } from '../../mail-credentials/consent/owner.ts'
import type { MailProvider } from '../../mail-credentials/providers.ts'
import { breaksCommand } from '../../net/imap/connection/command-encoding.ts'
import { notifyChange } from '../../store/changes.ts'
import { acceptSecret, verifySecret, type AcceptDeps } from './accept.ts'
import { OWNER_PAGE_PATH } from './create-links.ts'
import { leavingPage, questionPage, refusalPage, type Refusal } from './pages.ts'
import { countAttempt, discountAttempt, findLink, type OpenedLink } from './store.ts'
import { hashOfToken, TOKEN_LENGTH } from './token.ts'

export type OwnerPageDeps = AcceptDeps & {
  baseUrl: string
  clients: OAuthClients
  startOwnerConsent: StartOwnerConsent
  enqueue: Enqueue
}

const URL = `${OWNER_PAGE_PATH}/:token`
/** Bytes; a password may be escaped. */
const MAX_FORM_BYTES = 8_192

const params = Type.Object({ token: Type.String({ maxLength: TOKEN_LENGTH }) })
const body = Type.Object({
  way: Type.Enum(['provider', 'password']),
  password: Type.Optional(Type.String({ maxLength: 1_000 })),
})

/**
 * `/mailbox-sign-in/{token}`: the page where the owner of a mailbox signs in to it, without an
 * account. Reading it changes nothing, so that previews and link scanners do no harm.
 */
export function ownerPageRoutes(app: App, deps: OwnerPageDeps): void {
  const config = { limit: 'sign-in attempts' } as const
  // In a context of its own, because only here a body is a form.
  void app.register(async (scope) => {
    acceptForms(scope)
    const routes = scope.withTypeProvider<TypeBoxTypeProvider>()
    routes.get(URL, { config, schema: { hide: true, params } }, async (request, reply) => {
      const link = await open(deps, request.params.token)
      if (typeof link === 'string') return refuse(reply, link)
      return send(reply, questionPage(link, await providerOf(deps, link), null))
    })
    routes.post(
      URL,
      { config, bodyLimit: MAX_FORM_BYTES, schema: { hide: true, params, body } },
      async (request, reply) => {
        const link = await open(deps, request.params.token)
        if (typeof link === 'string') return refuse(reply, link)
        const provider = await providerOf(deps, link)
        const { way, password = '' } = request.body
        try {
          if (way === 'provider') return await leave(deps, reply, link, provider)
          const { path } = await takePassword(deps, link, password)
          return await reply.redirect(`${basePathOf(deps.baseUrl)}${path}`, 303)
        } catch (error) {
          if (!(error instanceof Fault)) throw error
          const again = await open(deps, request.params.token)
          return typeof again === 'string'
            ? refuse(reply, again)
            : send(reply.code(400), questionPage(again, provider, error.message))
        }
      },
    )
  })
}

async function open({ db }: OwnerPageDeps, token: string): Promise<OpenedLink | Refusal> {
  const link = await findLink(db, hashOfToken(token))
  if (!link) return 'unknown'
  return link.state === 'open' ? link : link.state
}

/** The provider at which the mailbox can be opened, if it is set up. */
async function providerOf(
  { clients }: OwnerPageDeps,
  { side, ...sides }: OpenedLink,
): Promise<MailProvider | null> {
  const { host, tlsVerify } = sides[side]
  const providers = (await clients.list()).map(({ provider }) => provider)
  const found = providers.find(({ hosts }) => hosts.includes(host.toLowerCase()))
  return found && (tlsVerify || found.id === 'other') ? found : null
}

async function leave(
  { baseUrl, startOwnerConsent }: OwnerPageDeps,
  reply: FastifyReply,
  { id: linkId, workspaceId, side, ...sides }: OpenedLink,
  provider: MailProvider | null,
): Promise<FastifyReply> {
  if (!provider) throw new Fault('conflict', 'This mailbox can be opened with its password only.')
  const { user } = sides[side]
  const owner = { workspaceId, linkId, provider: provider.id, user }
  const { url, secret } = await startOwnerConsent(owner)
  void reply.header('set-cookie', ownerCookie(secret, baseUrl))
  return send(reply, leavingPage(provider, url))
}

/**
 * @returns the path of the owner’s own page
 * @throws Fault with a sentence for the owner
 */
async function takePassword(
  deps: OwnerPageDeps,
  link: OpenedLink,
  password: string,
): Promise<{ path: string }> {
  const { db, enqueue } = deps
  if (password === '') throw new Fault('invalid_request', 'Enter the password.')
  if (breaksCommand(password))
    throw new Fault('invalid_request', 'The password must not have line breaks.')
  if (!(await countAttempt(db, link.id)))
    throw new Fault('conflict', 'This link is no longer open.')
  try {
    await verifySecret(deps, link, { password })
  } catch (error) {
    if (error instanceof Fault && error.code !== 'upstream_rejected')
      await discountAttempt(db, link.id)
    throw error
  } finally {
    await notifyChange(
      db,
      link.workspaceId,
      'migrations',
      link.migrationId ?? link.batchId ?? link.id,
    )
  }
  return db.transaction().execute((trx) => acceptSecret(trx, deps, link, { password }, enqueue))
}

function refuse(reply: FastifyReply, reason: Refusal): FastifyReply {
  return send(reply.code(reason === 'unknown' ? 404 : 410), refusalPage(reason))
}

function send(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(page)
}
