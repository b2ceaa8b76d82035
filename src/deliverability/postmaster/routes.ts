import { raiseResolved } from '../../alerts/raise.ts'
import { callerOf } from '../../http/auth.ts'
import { Fault } from '../../errors.ts'
import { Done, responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { OAuthClients } from '../../mail-credentials/access-token.ts'
import type { EraseCredential } from '../../mail-credentials/erase-credential.ts'
import { findCredential, holdCredential } from '../../mail-credentials/mail-credentials.sql.ts'
import { notifyChange } from '../../store/changes.ts'
import { accessStateOf } from '../provider-access/access-state.ts'
import { eraseReplaced } from '../provider-access/erase-replaced.ts'
import { disconnectedAlert } from '../provider-access/messages.ts'
import { makeDue } from '../provider-access/provider-access.sql.ts'
import type { PostmasterDeps } from './fetch-postmaster.ts'
import {
  deletePostmasterAccess,
  findPostmasterAccess,
  listPostmasterDomains,
  savePostmasterAccess,
} from './postmaster.sql.ts'
import { NewPostmasterAccess, PostmasterAccess } from './shapes.ts'

export type PostmasterRoutesDeps = Pick<PostmasterDeps, 'db'> & {
  clients: OAuthClients
  eraseCredential: EraseCredential
}

const PATH = '/api/v1/postmaster'

/** Registers `/api/v1/postmaster`: the access to Google Postmaster Tools. */
export function postmasterRoutes(app: App, deps: PostmasterRoutesDeps): void {
  const { db } = deps
  app.get(
    PATH,
    {
      schema: {
        summary: 'Get the access to Google Postmaster Tools',
        response: responses(Success(PostmasterAccess)),
      },
    },
    async (request) => ({
      success: true,
      data: await present(deps, callerOf(request).workspaceId),
    }),
  )
  app.post(
    PATH,
    {
      schema: {
        summary: 'Connect Google Postmaster Tools',
        description:
          'With a sign-in of the purpose `postmaster`, which may read statistics and change nothing. They are fetched every day, for the domains that you watch or that receive DMARC reports here.',
        body: NewPostmasterAccess,
        response: responses(Success(PostmasterAccess), 201),
      },
    },
    async (request, reply) => {
      const { workspaceId } = callerOf(request)
      await connect(deps, workspaceId, request.body.credentialId)
      return reply.code(201).send({ success: true, data: await present(deps, workspaceId) })
    },
  )
  app.post(
    `${PATH}/fetch`,
    {
      config: { limit: 'mail tests' },
      schema: {
        summary: 'Fetch the statistics of Google now',
        description: 'They appear within five minutes.',
        response: responses(Success(PostmasterAccess)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      if (!(await findPostmasterAccess(db, workspaceId))) throw notFound()
      if (!(await makeDue(db, 'postmaster_access', workspaceId)))
        throw new Fault('conflict', 'The access has ended. Sign in at Google again first.')
      return { success: true, data: await present(deps, workspaceId) }
    },
  )
  app.delete(
    PATH,
    {
      schema: {
        summary: 'Disconnect Google Postmaster Tools',
        description:
          'Deletes the sign-in and revokes it at Google. Statistics are kept for 400 days.',
        response: responses(Done),
      },
    },
    async (request) => {
      await disconnect(deps, callerOf(request).workspaceId)
      return { success: true }
    },
  )
}

const notFound = () =>
  new Fault('not_found', 'This workspace has no access to Google Postmaster Tools.')

async function connect(
  { db, eraseCredential }: PostmasterRoutesDeps,
  workspaceId: string,
  credentialId: string,
): Promise<void> {
  const revoke = await db.transaction().execute(async (trx) => {
    const credential = await findCredential(trx, workspaceId, credentialId)
    if (credential?.purpose !== 'postmaster')
      throw new Fault('not_found', 'The sign-in at Google was not found. Sign in again.', {
        details: [{ path: 'credentialId', message: 'was not found' }],
      })
    const before = await findPostmasterAccess(trx, workspaceId)
    await holdCredential(trx, workspaceId, credentialId, true)
    await savePostmasterAccess(trx, { workspaceId, credentialId, account: credential.account })
    await notifyChange(trx, workspaceId, 'checks', workspaceId)
    return eraseReplaced(eraseCredential, trx, before, { workspaceId, credentialId })
  })
  await revoke?.()
}

async function disconnect(
  { db, eraseCredential }: PostmasterRoutesDeps,
  workspaceId: string,
): Promise<void> {
  const revoke = await db.transaction().execute(async (trx) => {
    const deleted = await deletePostmasterAccess(trx, workspaceId)
    if (!deleted) throw notFound()
    await raiseResolved(trx, disconnectedAlert(workspaceId, 'postmaster_access'))
    await notifyChange(trx, workspaceId, 'checks', workspaceId)
    const { credentialId } = deleted
    return credentialId === null ? null : eraseCredential(trx, workspaceId, credentialId)
  })
  await revoke?.()
}

async function present({ db, clients }: PostmasterRoutesDeps, workspaceId: string) {
  const [google, access, domains] = await Promise.all([
    clients.find('google'),
    findPostmasterAccess(db, workspaceId),
    listPostmasterDomains(db, workspaceId),
  ])
  return {
    isOffered: google !== undefined,
    access: access
      ? {
          account: access.account,
          credentialId: access.credentialId,
          state: accessStateOf(access),
          problem: access.problem,
          fetchedAt: access.fetchedAt,
          nextFetchAt: access.dueAt,
        }
      : null,
    domains,
  }
}
