import type { FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '../../errors.ts'
import type { Reauthenticate } from '../../http/auth.ts'
import { cookieIn, cookieLine, cookieNameOf } from '../../http/cookies.ts'
import { PAGE_HEADERS } from '../../http/plain-page.ts'
import type { App } from '../../http/http-server.ts'
import { CONSENT_SECONDS } from '../limits.ts'
import { finishConsent, hashOf, type ConsentDeps } from './consent.ts'
import { finishOwnerConsent, type OwnerHooks } from './owner.ts'
import { approvedPage, failedPage, grantedPage, ownersFailedPage } from './consent-pages.ts'
import { isOfOwner } from './oauth-consents.sql.ts'

export const CALLBACK_PATH = '/api/v1/imap/oauth/callback'

/** The cookie of an owner’s browser, which needs no account. */
const OWNER_COOKIE = 'owner'

export type CallbackDeps = ConsentDeps & {
  baseUrl: string
  reauthenticate: Reauthenticate
  owner: OwnerHooks
}

/** The cookie that binds the sign-in of an owner to the browser. */
export function ownerCookie(secret: string, baseUrl: string): string {
  return cookieLine({ baseUrl, name: OWNER_COOKIE, value: secret, maxAgeSeconds: CONSENT_SECONDS })
}

/**
 * Where the provider sends the browser back. Everybody may come here, and answers are pages for
 * people; only the session that began the sign-in completes it.
 */
export function callbackRoute(app: App, deps: CallbackDeps): void {
  const { baseUrl, reauthenticate } = deps
  app.get(
    CALLBACK_PATH,
    {
      // The consent knows its workspace, which the redirect does not name.
      config: { limit: 'sign-in attempts', access: 'own' },
      schema: { hide: true },
      errorHandler(error, request, reply) {
        if (!(error instanceof Fault)) request.log.error({ err: error }, 'a consent failed')
        const [status, problem] = explain(error, baseUrl)
        void sendPage(reply.code(status), failedPage(problem, null, baseUrl))
      },
    },
    async (request, reply) => {
      const state = new URL(request.url, baseUrl).searchParams.get('state') ?? ''
      if (await isOfOwner(deps.db, hashOf(state))) return finishForOwner(deps, request, reply)
      const { accountId, sessionId } = await reauthenticate(request)
      if (sessionId === null) throw new Fault('forbidden', 'Open this page in a browser.')
      const query = new URL(request.url, baseUrl).searchParams
      // Microsoft, after an administrator has approved this service.
      if (query.has('admin_consent') && !query.has('error') && !query.has('code'))
        return sendPage(reply, approvedPage(baseUrl))
      const outcome = await finishConsent(deps, { accountId, sessionId }, query)
      return 'problem' in outcome
        ? sendPage(reply.code(400), failedPage(outcome.problem, approvalOf(outcome, deps), baseUrl))
        : sendPage(reply, grantedPage(outcome, baseUrl))
    },
  )
}

async function finishForOwner(
  deps: CallbackDeps,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const secret = cookieIn(request.headers.cookie, cookieNameOf(deps.baseUrl, OWNER_COOKIE))
  const query = new URL(request.url, deps.baseUrl).searchParams
  const outcome = await finishOwnerConsent(deps, secret, query)
  return 'problem' in outcome
    ? sendPage(reply.code(400), ownersFailedPage(outcome.problem, approvalOf(outcome, deps)))
    : reply.redirect(`${deps.baseUrl}${outcome.path}`, 303)
}

function explain(error: unknown, baseUrl: string): [number, { message: string }] {
  if (!(error instanceof Fault)) return [500, { message: 'The sign-in could not be completed.' }]
  return error.code === 'unauthenticated'
    ? [401, { message: `You are not signed in at ${baseUrl} in this browser. Start again there.` }]
    : [error.status, error]
}

type Failed = Extract<Awaited<ReturnType<typeof finishConsent>>, { problem: unknown }>

/** The page of Microsoft where an administrator approves this service for everyone. */
function approvalOf({ problem, provider }: Failed, { redirectUri }: ConsentDeps): string | null {
  if (!problem.needsApproval || provider?.id !== 'microsoft') return null
  const query = new URLSearchParams({
    client_id: provider.clientId,
    scope: provider.mailScopes.join(' '),
    redirect_uri: redirectUri,
  })
  return `${provider.issuer}/adminconsent?${query.toString()}`
}

function sendPage(reply: FastifyReply, page: string): FastifyReply {
  return reply.headers(PAGE_HEADERS).type('text/html; charset=utf-8').send(page)
}
