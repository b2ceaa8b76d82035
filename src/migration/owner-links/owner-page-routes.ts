import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { basePathOf } from '../../setting-values.ts'
import { publicPage, type Ended, type PageAnswer } from '../../http/public-page.ts'
import type { App } from '../../http/http-server.ts'
import type { Enqueue } from '../../jobs/job.ts'
import type { OAuthClients } from '../../mail-credentials/access-token.ts'
import { ownerCookie } from '../../mail-credentials/consent/callback-route.ts'
import type { StartOwnerConsent } from '../../mail-credentials/consent/owner.ts'
import type { MailProvider } from '../../mail-credentials/providers.ts'
import { breaksCommand } from '../../net/imap/connection/command-encoding.ts'
import { notifyChange } from '../../store/changes.ts'
import { acceptSecret, verifySecret, type AcceptDeps } from './accept.ts'
import { OWNER_PAGE_PATH } from './create-links.ts'
import { leavingPage, questionPage, refusalPage } from './owner-pages.ts'
import { countAttempt, discountAttempt, findLink, type OpenedLink } from './owner-links.sql.ts'
import { hashOfToken, TOKEN_LENGTH } from './owner-token.ts'

export type OwnerPageDeps = AcceptDeps & {
  baseUrl: string
  clients: OAuthClients
  startOwnerConsent: StartOwnerConsent
  enqueue: Enqueue
}

const form = Type.Object({
  way: Type.Enum(['provider', 'password']),
  password: Type.Optional(Type.String({ maxLength: 1_000 })),
})

/** `/mailbox-sign-in/{token}`: the page where the owner of a mailbox signs in to it. */
export function ownerPageRoutes(app: App, deps: OwnerPageDeps): void {
  publicPage(app, {
    url: `${OWNER_PAGE_PATH}/:token`,
    limit: 'sign-in attempts',
    tokenLength: TOKEN_LENGTH,
    form,
    // A password may be escaped.
    formBytes: 8_192,
    open: (token) => open(deps, hashOfToken(token)),
    unknown: () => refusalPage('unknown'),
    ask: async ({ link }) => questionPage(link, await providerOf(deps, link), null),
    async act({ link, hash }, { way, password = '' }, reply) {
      const provider = await providerOf(deps, link)
      try {
        if (way === 'provider') return await leave(deps, reply, link, provider)
        const { path } = await takePassword(deps, link, password)
        return { path: `${basePathOf(deps.baseUrl)}${path}` }
      } catch (error) {
        if (!(error instanceof Fault)) throw error
        const again = await open(deps, hash)
        if (again === null) throw error
        return 'ended' in again
          ? { status: 410, html: again.ended }
          : { status: 400, html: questionPage(again.link, provider, error.message) }
      }
    },
  })
}

type Opened = { link: OpenedLink; hash: Buffer }

async function open({ db }: OwnerPageDeps, hash: Buffer): Promise<Opened | Ended | null> {
  const link = await findLink(db, hash)
  if (!link) return null
  return link.state === 'open' ? { link, hash } : { ended: refusalPage(link.state) }
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
): Promise<PageAnswer> {
  if (!provider) throw new Fault('conflict', 'This mailbox can be opened with its password only.')
  const { user } = sides[side]
  const owner = { workspaceId, linkId, provider: provider.id, user }
  const { url, secret } = await startOwnerConsent(owner)
  void reply.header('set-cookie', ownerCookie(secret, baseUrl))
  return leavingPage(provider, url)
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
