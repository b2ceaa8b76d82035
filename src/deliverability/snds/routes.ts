import type { Transaction } from 'kysely'
import { callerOf } from '../../http/auth.ts'
import { Fault, invalidField } from '../../errors.ts'
import { Done, responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { raiseResolved } from '../../alerts/raise.ts'
import { notifyChange } from '../../store/changes.ts'
import type { DB } from '../../store/tables.ts'
import { DAY_MS } from '../../time.ts'
import { disconnectedAlert } from '../provider-access/messages.ts'
import { makeDue } from '../provider-access/provider-access.sql.ts'
import { accessRenewedAlert, SNDS_INCIDENTS } from './messages.ts'
import { NewSndsAccess, SndsAccess, SndsApproval } from './shapes.ts'
import { presentSnds } from './present-snds.ts'
import { sndsSignInRoutes, type SndsSignInRoutesDeps } from './sign-in-routes.ts'
import { encryptLinks, requireSndsLink } from './snds-links.ts'
import {
  deleteSndsAccess,
  deleteSndsSignIn,
  findSndsAccess,
  findSndsSignIn,
  saveApproval,
  saveSndsAccess,
} from './snds.sql.ts'

const PATH = '/api/v1/snds'

type Deps = SndsSignInRoutesDeps

/** Registers `/api/v1/snds`: the access to Microsoft SNDS. */
export function sndsRoutes(app: App, deps: Deps): void {
  readRoutes(app, deps)
  changeRoutes(app, deps)
  sndsSignInRoutes(app, deps)
}

function readRoutes(app: App, deps: Deps): void {
  app.get(
    PATH,
    {
      schema: {
        summary: 'Get the access to Microsoft SNDS',
        description: 'With what it last said of each address. The links are never returned.',
        response: responses(Success(SndsAccess)),
      },
    },
    async (request) => ({
      success: true,
      data: await presentSnds(deps, callerOf(request).workspaceId),
    }),
  )
  app.post(
    `${PATH}/fetch`,
    {
      config: { limit: 'mail tests' },
      schema: {
        summary: 'Fetch the data of Microsoft now',
        description: 'They appear within five minutes.',
        response: responses(Success(SndsAccess)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const signIn = await findSndsSignIn(deps.db, workspaceId)
      if (!signIn && !(await findSndsAccess(deps.db, workspaceId))) throw notFound()
      if (!(await makeDue(deps.db, signIn ? 'snds_sign_in' : 'snds_access', workspaceId)))
        throw new Fault('conflict', 'The access has ended. Sign in or enter new links first.')
      return { success: true, data: await presentSnds(deps, workspaceId) }
    },
  )
}

function changeRoutes(app: App, deps: Deps): void {
  const { db } = deps
  app.put(
    `${PATH}/links`,
    {
      schema: {
        summary: 'Enter the links of Microsoft SNDS',
        description:
          'Of its automated data access, in place of a sign-in. They work for 30 days from now; an alert comes before.',
        body: NewSndsAccess,
        response: responses(Success(SndsAccess)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { dataLink, statusLink, approvedOn } = request.body
      const links = {
        data: requireSndsLink(dataLink, 'dataLink'),
        status: statusLink === undefined ? null : requireSndsLink(statusLink, 'statusLink'),
      }
      requirePast(approvedOn)
      const sealed = encryptLinks(links, deps.secretKey, workspaceId)
      const revoke = await db.transaction().execute(async (trx) => {
        const signIn = await findSndsSignIn(trx, workspaceId)
        const given = approvedOn === undefined ? signIn?.approvedOn : approvedOn
        await saveSndsAccess(trx, workspaceId, { sealed, approvedOn: given })
        for (const end of ['link', 'signIn'] as const)
          await raiseResolved(trx, accessRenewedAlert(workspaceId, end))
        await notifyChange(trx, workspaceId, 'checks', workspaceId)
        return removeSignIn(deps, trx, workspaceId)
      })
      await revoke?.()
      return { success: true, data: await presentSnds(deps, workspaceId) }
    },
  )
  app.patch(
    PATH,
    {
      schema: {
        summary: 'Enter when Microsoft last approved the access to SNDS',
        description: 'It ends after ten months; an alert comes 30 days before.',
        body: SndsApproval,
        response: responses(Success(SndsAccess)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const { approvedOn } = request.body
      requirePast(approvedOn)
      if (!(await saveApproval(db, workspaceId, approvedOn))) throw notFound()
      await notifyChange(db, workspaceId, 'checks', workspaceId)
      return { success: true, data: await presentSnds(deps, workspaceId) }
    },
  )
  app.delete(
    PATH,
    {
      schema: {
        summary: 'Delete the access to Microsoft SNDS',
        description: 'The sign-in or the links. What was fetched is kept for 400 days.',
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const revoke = await db.transaction().execute((trx) => removeAccess(deps, trx, workspaceId))
      await revoke?.()
      return { success: true }
    },
  )
}

type Revoke = (() => Promise<unknown>) | null

/** @throws Fault `not_found` without an access */
async function removeAccess(
  deps: Deps,
  trx: Transaction<DB>,
  workspaceId: string,
): Promise<Revoke> {
  const signIn = await findSndsSignIn(trx, workspaceId)
  const revoke = await removeSignIn(deps, trx, workspaceId)
  if (!(await deleteSndsAccess(trx, workspaceId)) && !signIn) throw notFound()
  for (const incident of [undefined, ...Object.values(SNDS_INCIDENTS)])
    await raiseResolved(trx, disconnectedAlert(workspaceId, 'snds_access', incident))
  await notifyChange(trx, workspaceId, 'checks', workspaceId)
  return revoke
}

/** Deletes the tokens of a sign-in. @returns ends the permission at Microsoft, after the transaction */
async function removeSignIn(
  { eraseCredential }: Deps,
  trx: Transaction<DB>,
  workspaceId: string,
): Promise<Revoke> {
  const deleted = await deleteSndsSignIn(trx, workspaceId)
  const credentialId = deleted?.credentialId ?? null
  return credentialId === null ? null : eraseCredential(trx, workspaceId, credentialId)
}

const notFound = () => new Fault('not_found', 'This workspace has no access to Microsoft SNDS.')

function requirePast(approvedOn: string | null | undefined): void {
  // The day may have begun already where the person is.
  if (!approvedOn || Date.parse(approvedOn) <= Date.now() + DAY_MS) return
  throw invalidField('approvedOn', 'must not be in the future')
}
