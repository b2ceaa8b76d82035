import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import * as oidc from 'openid-client'
import { Fault, messageOf } from '../../errors.ts'
import { basePathOf } from '../../setting-values.ts'
import { callerOf, requireFreshSession } from '../../http/auth.ts'
import { cookieIn, cookieLine, cookieNameOf } from '../../http/cookies.ts'
import { Done, responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import { MINUTE_SECONDS } from '../../time.ts'
import { openSealed, sealUntil } from '../secrets/sealed.ts'
import { openSession, originOf, type OpenSessionDeps } from '../sign-in/open-session.ts'
import { findPasswordHash } from '../accounts.sql.ts'
import { claimSecret } from '../secrets/secrets.sql.ts'
import { listPasskeys } from '../passkeys/passkeys.sql.ts'
import { CALLBACK_PATH, type Checks, type OidcProvider } from './oidc-provider.ts'
import {
  linkIdentity,
  OidcError,
  resolveIdentity,
  type OidcErrorCode,
  type OidcSignInDeps,
} from './oidc-sign-in.ts'
import { deleteIdentity } from './oidc-identities.sql.ts'

export type OidcRoutesDeps = OpenSessionDeps &
  Omit<OidcSignInDeps, 'providerId'> & { provider: OidcProvider | null; secretKey: string }

const COOKIE = 'oidc'
const LIFETIME_SECONDS = 10 * MINUTE_SECONDS
const CONTEXT = 'sign-in with OIDC'

/** A sign-in that waits for the provider, sealed in a cookie of the browser that started it. */
type Pending = Checks & {
  returnTo: string
  /** The account to link the identity to; null for a sign-in. */
  linkTo: string | null
}

type Deps = OidcRoutesDeps & { provider: OidcProvider }

const Start = Type.Object({
  returnTo: Type.Optional(
    Type.String({ maxLength: 500, description: 'Path of the dashboard to open afterwards.' }),
  ),
})

/** Sign-in at the OpenID provider, for everyone. */
export function oidcSignInRoutes(app: App, deps: OidcRoutesDeps): void {
  const config = { limit: 'sign-in attempts' } as const
  app.get(
    '/api/auth/oidc/start',
    {
      config,
      // Redirects to the sign-in page of the provider. Only browsers use it, so it is not in the API.
      schema: { hide: true, querystring: Start },
    },
    async (request, reply) => {
      const given = requireProvider(deps)
      try {
        const returnTo = pathOf(request.query.returnTo)
        const { url, cookie } = await start(given, { returnTo, linkTo: null })
        return await reply.header('set-cookie', cookie).redirect(url)
      } catch (error) {
        return redirectError(given, reply, error)
      }
    },
  )
  app.get(
    CALLBACK_PATH,
    {
      config,
      schema: { hide: true },
    },
    async (request, reply) => {
      const given = requireProvider(deps)
      try {
        const { cookies, path } = await finish(given, request)
        return await reply
          .header('set-cookie', [...cookies, expiredCookie(deps)])
          .redirect(`${basePathOf(deps.config.BASE_URL)}${path}`)
      } catch (error) {
        reply.header('set-cookie', expiredCookie(deps))
        return redirectError(given, reply, error)
      }
    },
  )
}

/** Linking the account to an identity at the OpenID provider. */
export function oidcLinkRoutes(app: App, deps: OidcRoutesDeps): void {
  const common = { security: [{ session: [] }] }
  const config = { withoutSecondFactor: true } as const
  const url = '/api/v1/account/oidc'
  app.post(
    url,
    {
      config,
      onRequest: requireFreshSession,
      schema: {
        summary: 'Start linking the account to single sign-on',
        ...common,
        description: 'Open the returned URL in the same browser.',
        response: responses(Success(Type.Object({ url: Type.String() }))),
      },
    },
    async (request, reply) => {
      const linkTo = callerOf(request).accountId
      const started = await start(requireProvider(deps), { returnTo: '/account', linkTo })
      reply.header('set-cookie', started.cookie)
      return { success: true as const, data: { url: started.url } }
    },
  )
  app.delete(
    url,
    {
      onRequest: requireFreshSession,
      schema: {
        summary: 'Unlink the account from single sign-on',
        ...common,
        description:
          'Needs a password or a passkey, so that the account can still be signed in to.',
        response: responses(Done),
      },
    },
    async (request) => {
      const { provider, db, notices } = requireProvider(deps)
      const { accountId: id, email } = callerOf(request)
      const hasPassword = (await findPasswordHash(db, id)) !== undefined
      if (!hasPassword && (await listPasskeys(db, id)).length === 0)
        throw new Fault('conflict', 'Set a password or add a passkey first.')
      if (!(await deleteIdentity(db, id, provider.id)))
        throw new Fault('not_found', 'The account is not linked to single sign-on.')
      notices.send('oidcUnlinked', { id, email }, originOf(request))
      await notifyChange(db, id, 'account')
      return { success: true as const }
    },
  )
}

function requireProvider(deps: OidcRoutesDeps): Deps {
  if (!deps.provider) throw new Fault('not_found', 'Single sign-on is not set up on this service.')
  return { ...deps, provider: deps.provider }
}

async function start(
  deps: Deps,
  purpose: Pick<Pending, 'returnTo' | 'linkTo'>,
): Promise<{ url: string; cookie: string }> {
  const { url, checks } = await deps.provider.start()
  const sealed = sealUntil({ ...checks, ...purpose } satisfies Pending, {
    secretKey: deps.secretKey,
    context: CONTEXT,
    lifetimeMs: LIFETIME_SECONDS * 1_000,
  })
  return { url: url.href, cookie: pendingCookie(deps, sealed, LIFETIME_SECONDS) }
}

async function finish(
  deps: Deps,
  request: FastifyRequest,
): Promise<{ cookies: string[]; path: string }> {
  const pending = openPending(deps, request)
  const query = new URL(request.url, deps.config.BASE_URL).searchParams
  const identity = await deps.provider.finish(query.toString(), pending)
  if (!(await claimSecret(deps.db, 'oidc', pending.state, LIFETIME_SECONDS)))
    throw new OidcError('expired')
  const signInDeps = { ...deps, providerId: deps.provider.id }
  if (pending.linkTo === null) {
    const owner = await resolveIdentity(signInDeps, identity)
    return { cookies: await openSession(deps, request, owner, 'oidc'), path: pending.returnTo }
  }
  // The cookie alone is not enough: the account must still be signed in in this browser.
  const caller = await deps.identify({ cookie: request.headers.cookie })
  if (caller?.accountId !== pending.linkTo) throw new OidcError('not_signed_in')
  await linkIdentity(signInDeps, caller.accountId, identity)
  const account = { id: caller.accountId, email: caller.email }
  deps.notices.send('oidcLinked', account, originOf(request))
  await notifyChange(deps.db, account.id, 'account')
  return { cookies: [], path: pending.returnTo }
}

function openPending({ secretKey, config }: Deps, { headers }: FastifyRequest): Pending {
  try {
    return openSealed(cookieIn(headers.cookie, cookieNameOf(config.BASE_URL, COOKIE)), {
      secretKey,
      context: CONTEXT,
      message: 'expired',
    }) as Pending
  } catch {
    throw new OidcError('expired')
  }
}

/** Sends the browser to the sign-in page with a code, for which the dashboard has a text. */
function redirectError({ log, config }: Deps, reply: FastifyReply, error: unknown): FastifyReply {
  const failure = failureOf(error)
  log.warn({ err: error, code: failure.code }, 'a sign-in with OIDC failed')
  const query = new URLSearchParams({ error: failure.code })
  if (failure.providerError) query.set('provider', failure.providerError)
  return reply.redirect(`${basePathOf(config.BASE_URL)}/sign-in?${query.toString()}`)
}

function failureOf(error: unknown): { code: OidcErrorCode; providerError: string | null } {
  if (error instanceof OidcError) return error
  if (error instanceof Fault && error.code === 'upstream_unreachable')
    return { code: 'provider_unreachable', providerError: null }
  if (error instanceof Fault && error.code === 'upstream_rejected')
    return { code: 'issuer_differs', providerError: null }
  if (error instanceof oidc.AuthorizationResponseError || error instanceof oidc.ResponseBodyError)
    return { code: 'provider', providerError: plain(error.error) }
  return { code: 'provider', providerError: plain(messageOf(error)) }
}

/** Only short codes of the provider are shown; its descriptions could hold anything. */
function plain(text: string): string {
  return text.replace(/[^\w .:-]/g, '').slice(0, 80)
}

/** Only paths of the dashboard: an address elsewhere would make this an open redirect. */
function pathOf(returnTo = '/'): string {
  return /^\/(?![/\\])[^\\\s]*$/.test(returnTo) ? returnTo : '/'
}

function pendingCookie({ config }: OidcRoutesDeps, value: string, maxAgeSeconds: number): string {
  return cookieLine({ baseUrl: config.BASE_URL, name: COOKIE, value, maxAgeSeconds })
}

function expiredCookie(deps: OidcRoutesDeps): string {
  return pendingCookie(deps, '', 0)
}
