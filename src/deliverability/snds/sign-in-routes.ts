import { raiseResolved } from '../../alerts/raise.ts'
import { Fault } from '../../errors.ts'
import { callerOf, requireSession } from '../../http/auth.ts'
import { responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { OAuthClients } from '../../mail-credentials/access-token.ts'
import { finishConsent, startConsent } from '../../mail-credentials/consent/consent.ts'
import type { Starter } from '../../mail-credentials/consent/oauth-consents.sql.ts'
import type { EraseCredential } from '../../mail-credentials/erase-credential.ts'
import { holdCredential } from '../../mail-credentials/mail-credentials.sql.ts'
import { OAuthRejected, toFault, type OAuthProblem } from '../../mail-credentials/oauth-problem.ts'
import { notifyChange } from '../../store/changes.ts'
import { findSndsAccess, findSndsSignIn, saveSndsSignIn } from './snds.sql.ts'
import { eraseReplaced } from '../provider-access/erase-replaced.ts'
import { accessRenewedAlert } from './messages.ts'
import type { SndsDeps } from './fetch-snds.ts'
import { presentSnds } from './present-snds.ts'
import { SndsAccess, SndsSignInAnswer, StartedSndsSignIn } from './shapes.ts'

export type SndsSignInRoutesDeps = Pick<SndsDeps, 'db' | 'secretKey'> & {
  clients: OAuthClients
  eraseCredential: EraseCredential
}

const PATH = '/api/v1/snds/sign-in'

/**
 * `/api/v1/snds/sign-in`: signing in at Microsoft, which sends its answer to `http://localhost`. A
 * person pastes the address of that page here.
 */
export function sndsSignInRoutes(app: App, deps: SndsSignInRoutesDeps): void {
  app.post(
    PATH,
    {
      config: { limit: 'connections' },
      onRequest: requireSession,
      schema: {
        summary: 'Start a sign-in at Microsoft SNDS',
        description:
          'Open the returned URL. The sign-in ends at a page of `http://localhost` that does not load: send its address within a minute.',
        security: [{ session: [] }],
        response: responses(Success(StartedSndsSignIn), 201),
      },
    },
    async (request, reply) => {
      const wanted = { provider: 'microsoft', purpose: 'snds' } as const
      const { url, expiresAt } = await startConsent(consentDeps(deps), starterOf(request), wanted)
      return reply.code(201).send({ success: true, data: { url, expiresAt } })
    },
  )
  app.post(
    `${PATH}/answer`,
    {
      config: { limit: 'connections' },
      onRequest: requireSession,
      schema: {
        summary: 'Complete a sign-in at Microsoft SNDS',
        description: 'Replaces links, and a sign-in of another account.',
        security: [{ session: [] }],
        body: SndsSignInAnswer,
        response: responses(Success(SndsAccess)),
      },
    },
    async (request) => {
      const starter = starterOf(request)
      const query = queryOf(request.body.address)
      const outcome = await finishConsent(consentDeps(deps), starter, query, ['snds'])
      if ('problem' in outcome) throw faultOf(outcome.problem)
      await connect(deps, starter.workspaceId, outcome)
      return { success: true, data: await presentSnds(deps, starter.workspaceId) }
    },
  )
}

function starterOf(request: Parameters<typeof callerOf>[0]): Starter {
  const { workspaceId, accountId, sessionId } = callerOf(request)
  return { workspaceId, accountId, sessionId: sessionId ?? '' }
}

/** The answers never come to this service, and what waits for a sign-in is continued by `connect`. */
const consentDeps = (deps: SndsSignInRoutesDeps) => ({
  ...deps,
  redirectUri: '',
  onRenewed: async () => {},
})

/**
 * The query of a pasted address, in which line breaks of a message or terminal may be.
 * @throws Fault `invalid_request`
 */
function queryOf(address: string): URLSearchParams {
  const [bare = '', fragment = ''] = address.replaceAll(/\s/g, '').split('#')
  const query = new URLSearchParams(
    bare.includes('=') ? bare.slice(bare.indexOf('?') + 1) : fragment,
  )
  if (query.has('state') && (query.has('code') || query.has('error'))) return query
  throw invalid(
    'This address has no answer of Microsoft. Copy the whole address of the page that did not load: it begins with “http://localhost/?code=”.',
  )
}

const invalid = (message: string) =>
  new Fault('invalid_request', message, { details: [{ path: 'address', message }] })

function faultOf(problem: OAuthProblem): unknown {
  const { kind, message } = problem
  if (kind !== 'consent') return toFault(new OAuthRejected(problem))
  return invalid(message)
}

async function connect(
  { db, eraseCredential }: SndsSignInRoutesDeps,
  workspaceId: string,
  { credentialId, account }: { credentialId: string; account: string },
): Promise<void> {
  const revoke = await db.transaction().execute(async (trx) => {
    const before = await findSndsSignIn(trx, workspaceId)
    const approvedOn = (before ?? (await findSndsAccess(trx, workspaceId)))?.approvedOn ?? null
    await holdCredential(trx, workspaceId, credentialId, true)
    await saveSndsSignIn(trx, { workspaceId, credentialId, account, approvedOn })
    for (const end of ['link', 'signIn'] as const)
      await raiseResolved(trx, accessRenewedAlert(workspaceId, end))
    await notifyChange(trx, workspaceId, 'checks', workspaceId)
    return eraseReplaced(eraseCredential, trx, before, { workspaceId, credentialId })
  })
  await revoke?.()
}
