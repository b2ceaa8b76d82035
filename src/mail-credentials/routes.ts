import type { Transaction } from 'kysely'
import { Type } from 'typebox'
import { Fault } from '../errors.ts'
import { callerOf, requireSession } from '../http/auth.ts'
import { Done, responses, Success, Uuid } from '../http/http-schema.ts'
import type { App } from '../http/http-server.ts'
import { notifyChange } from '../store/changes.ts'
import type { DB } from '../store/tables.ts'
import type { AdministratorDeps } from './administrator/save.ts'
import { administratorRoutes } from './administrator/routes.ts'
import { startConsent, type ConsentDeps } from './consent/consent.ts'
import { findConsent, type ConsentRow } from './consent/oauth-consents.sql.ts'
import type { OAuthClient } from './oauth-client.ts'
import {
  ADMINISTRATOR_KINDS,
  administratorProvider,
  identifiesPerson,
  PROVIDER_IDS,
} from './providers.ts'
import { Consent, MailCredential, MailProviders, NewConsent, StartedConsent } from './shapes.ts'
import { shownCredential } from './shown.ts'
import {
  deleteCredential,
  findCredential,
  listCredentials,
  type CredentialRow,
} from './mail-credentials.sql.ts'

export type CredentialRoutesDeps = ConsentDeps &
  AdministratorDeps & {
    /** Whether work that has not ended uses a credential. */
    isUsed: (trx: Transaction<DB>, workspaceId: string, credentialId: string) => Promise<boolean>
  }

const params = Type.Object({ id: Uuid })

/** `/api/v1/imap/credentials` and `/api/v1/imap/oauth`: signing in to mailboxes at providers. */
export function credentialRoutes(app: App, deps: CredentialRoutesDeps): void {
  const { db, clients, redirectUri, isUsed } = deps
  app.get(
    '/api/v1/imap/oauth/providers',
    {
      schema: {
        summary: 'List the providers at which you can sign in to mailboxes',
        response: responses(Success(MailProviders)),
      },
    },
    async () => {
      const found = await clients.list()
      const providers = shownProviders(found)
      return {
        success: true,
        data: { providers, forAdministrators: providersForAdministrators(found), redirectUri },
      }
    },
  )
  app.get(
    '/api/v1/imap/credentials',
    {
      schema: {
        summary: 'List sign-ins to mailboxes, oldest first',
        description: 'Tokens are never returned.',
        response: responses(Success(Type.Array(MailCredential))),
      },
    },
    async (request) => {
      const rows = await listCredentials(db, callerOf(request).workspaceId)
      return { success: true, data: rows.map(shownCredential) }
    },
  )
  app.delete(
    '/api/v1/imap/credentials/:id',
    {
      schema: {
        summary: 'Delete a sign-in to a mailbox',
        description:
          'Deletes the tokens. The permission at the provider stays until you revoke it.',
        params,
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { id } = request.params
      await db.transaction().execute(async (trx) => {
        const found = await findCredential(trx, workspaceId, id)
        const row = found?.purpose === 'mailbox' ? found : undefined
        if (row?.isHeld || (await isUsed(trx, workspaceId, id)))
          throw new Fault(
            'conflict',
            'This sign-in is in use. Stop the migration, finish the batch, or delete the report mailbox or the seed of a canary first.',
          )
        if (!row || row.isOwners || !(await deleteCredential(trx, workspaceId, id)))
          throw new Fault('not_found', 'The sign-in to the mailbox was not found.')
        await notifyChange(trx, workspaceId, 'migrations', id)
      })
      return { success: true }
    },
  )
  administratorRoutes(app, deps)
  consentRoutes(app, deps)
}

function consentRoutes(app: App, deps: CredentialRoutesDeps): void {
  app.post(
    '/api/v1/imap/oauth/consents',
    {
      config: { limit: 'connections' },
      onRequest: requireSession,
      schema: {
        summary: 'Start a sign-in to a mailbox at its provider',
        description: 'Open the returned URL in the same browser, within ten minutes.',
        security: [{ session: [] }],
        body: NewConsent,
        response: responses(Success(StartedConsent), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId, accountId, sessionId } = callerOf(request)
      const starter = { workspaceId, accountId, sessionId: sessionId ?? '' }
      const data = await startConsent(deps, starter, request.body)
      return reply.code(201).send({ success: true, data })
    },
  )
  app.get(
    '/api/v1/imap/oauth/consents/:id',
    {
      schema: {
        summary: 'Get a sign-in that was started',
        description: 'For up to an hour after it has expired.',
        params,
        response: responses(Success(Consent)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const row = await findConsent(deps.db, workspaceId, request.params.id)
      if (!row) throw new Fault('not_found', 'The sign-in was not found.')
      const credential =
        row.isAnswered && row.problem === null && row.credentialId !== null
          ? await findCredential(deps.db, workspaceId, row.credentialId)
          : undefined
      const { id, problem } = row
      const state = stateOf(row, credential)
      return {
        success: true,
        data: { id, state, problem, credential: credential ? shownCredential(credential) : null },
      }
    },
  )
}

function stateOf({ problem, isExpired, isAnswered }: ConsentRow, credential?: CredentialRow) {
  if (credential) return 'granted'
  // Between the answer and its result, the provider is asked for the tokens.
  if (problem === null && !isExpired) return 'pending'
  return isAnswered ? 'failed' : 'expired'
}

function providersForAdministrators(clients: OAuthClient[]) {
  const other = clients.find(({ provider }) => provider.id === 'other')?.provider
  return PROVIDER_IDS.flatMap((id) => {
    const kinds = [...ADMINISTRATOR_KINDS[id]]
    const provider = kinds.length > 0 && administratorProvider(id, { clientId: '' }, other)
    if (!provider) return []
    const { name, hosts, mailScopes } = provider
    return [{ id, name, hosts, kinds, scope: mailScopes.join(' ') }]
  })
}

function shownProviders(clients: OAuthClient[]) {
  return clients.map(({ provider }) => {
    const { id, name, hosts } = provider
    return { id, name, hosts, needsUser: !identifiesPerson(provider) }
  })
}
