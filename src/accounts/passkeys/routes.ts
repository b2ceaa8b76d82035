import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import { Type } from 'typebox'
import { Fault } from '../../errors.ts'
import { callerOf, requireFreshSession, requireSession } from '../../http/auth.ts'
import { Done, responses, Success, Uuid } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import type { AccountEvent } from '../mail/notices.ts'
import { openSession, originOf, type OpenSessionDeps } from '../sign-in/open-session.ts'
import type { Passkeys } from './passkeys.ts'
import { NewPasskey, Passkey, PasskeyAnswer, PasskeyChange, PasskeyOptions } from './shapes.ts'
import { deletePasskey, renamePasskey } from './passkeys.sql.ts'

export type PasskeyRoutesDeps = OpenSessionDeps & { db: Kysely<DB>; passkeys: Passkeys }

const url = '/api/v1/account/passkeys'
const params = Type.Object({ id: Uuid })

/** Sign-in with a passkey, for everyone. */
export function passkeySignInRoutes(app: App, deps: PasskeyRoutesDeps): void {
  app.post(
    '/api/auth/passkey/options',
    {
      config: { limit: 'sign-in attempts' },
      schema: {
        summary: 'Start a sign-in with a passkey',
        response: responses(Success(PasskeyOptions)),
      },
    },
    async () => {
      const { options, state } = await deps.passkeys.startSignIn()
      return { success: true as const, data: { options: { ...options }, state } }
    },
  )
  app.post(
    '/api/auth/passkey/sign-in',
    {
      config: { limit: 'sign-in attempts' },
      schema: {
        summary: 'Sign in with a passkey',
        description:
          'Sets the session cookie. No code is needed: a passkey asks for a PIN or biometrics itself.',
        body: PasskeyAnswer,
        response: responses(Done),
      },
    },
    async (request, reply) => {
      const { accountId: id, email } = await deps.passkeys.finishSignIn(request.body)
      reply.header('set-cookie', await openSession(deps, request, { id, email }, 'passkey'))
      return { success: true as const }
    },
  )
}

/** The passkeys of the account. */
export function passkeyRoutes(app: App, deps: PasskeyRoutesDeps): void {
  const { db, passkeys, notices } = deps
  const common = { security: [{ session: [] }] }
  const config = { withoutSecondFactor: true } as const

  async function reportChange(request: FastifyRequest, event: AccountEvent): Promise<void> {
    const { accountId: id, email } = callerOf(request)
    notices.send(event, { id, email }, originOf(request))
    await notifyChange(db, id, 'account')
  }

  app.get(
    url,
    {
      config,
      onRequest: requireSession,
      schema: {
        summary: 'List passkeys',
        ...common,
        response: responses(Success(Type.Array(Passkey))),
      },
    },
    async (request) => ({
      success: true as const,
      data: await passkeys.list(callerOf(request).accountId),
    }),
  )
  app.post(
    `${url}/options`,
    {
      config,
      onRequest: requireFreshSession,
      schema: {
        summary: 'Start adding a passkey',
        ...common,
        response: responses(Success(PasskeyOptions)),
      },
    },
    async (request) => {
      const { accountId: id, email, name } = callerOf(request)
      const { options, state } = await passkeys.startRegistration({ id, email, name })
      return { success: true as const, data: { options: { ...options }, state } }
    },
  )
  app.post(
    url,
    {
      config,
      onRequest: requireFreshSession,
      schema: {
        summary: 'Add a passkey',
        ...common,
        body: NewPasskey,
        response: responses(Success(Passkey), 201),
      },
    },
    async (request, reply) => {
      const data = await passkeys.finishRegistration(callerOf(request).accountId, request.body)
      await reportChange(request, 'passkeyAdded')
      return reply.code(201).send({ success: true, data })
    },
  )
  app.patch(
    `${url}/:id`,
    {
      config,
      onRequest: requireSession,
      schema: {
        summary: 'Rename a passkey',
        ...common,
        params,
        body: PasskeyChange,
        response: responses(Success(Passkey)),
      },
    },
    async (request) => {
      const { accountId } = callerOf(request)
      const data = await renamePasskey(db, accountId, request.params.id, request.body.name)
      if (!data) throw notFound()
      await notifyChange(db, accountId, 'account')
      return { success: true as const, data }
    },
  )
  app.delete(
    `${url}/:id`,
    {
      config,
      onRequest: requireFreshSession,
      schema: { summary: 'Remove a passkey', ...common, params, response: responses(Done) },
    },
    async (request) => {
      const isDeleted = await deletePasskey(db, callerOf(request).accountId, request.params.id)
      if (!isDeleted) throw notFound()
      await reportChange(request, 'passkeyRemoved')
      return { success: true as const }
    },
  )
}

function notFound(): Fault {
  return new Fault('not_found', 'Passkey not found.')
}
