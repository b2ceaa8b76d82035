import { callerOf } from '../../http/auth.ts'
import { Fault } from '../../errors.ts'
import { Done, responses, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import { raiseResolved } from '../../alerts/raise.ts'
import { notifyChange } from '../../store/changes.ts'
import type { Db } from '../../store/database.ts'
import { ifDecryptable } from '../../store/encryption.ts'
import { DAY_MS, monthsBefore } from '../../time.ts'
import { MAX_GROUP_ROWS, SNDS_APPROVAL_MONTHS, SNDS_LINK_DAYS } from '../limits.ts'
import { accessStateOf } from '../provider-access/access-state.ts'
import { disconnectedAlert } from '../provider-access/messages.ts'
import { makeDue } from '../provider-access/provider-access.sql.ts'
import type { SndsDeps } from './fetch-snds.ts'
import { accessRenewedAlert, SNDS_INCIDENTS } from './messages.ts'
import { NewSndsAccess, SndsAccess, SndsApproval } from './shapes.ts'
import { decryptLinks, encryptLinks, requireSndsLink } from './snds-links.ts'
import {
  deleteSndsAccess,
  findSndsAccess,
  listLatestSndsDays,
  listSndsBlocks,
  saveApproval,
  saveSndsAccess,
  type SndsAccessRow,
} from './snds.sql.ts'

const PATH = '/api/v1/snds'
const tags = ['Provider statistics']
const SHOWN_DAYS = 30

type Deps = Pick<SndsDeps, 'db' | 'secretKey'>

/** Registers `/api/v1/snds`: the access to Microsoft SNDS. */
export function sndsRoutes(app: App, deps: Deps): void {
  readRoutes(app, deps)
  changeRoutes(app, deps)
}

function readRoutes(app: App, deps: Deps): void {
  app.get(
    PATH,
    {
      schema: {
        summary: 'Get the access to Microsoft SNDS',
        description: 'With what it last said of each address. The links are never returned.',
        tags,
        response: responses(Success(SndsAccess)),
      },
    },
    async (request) => ({
      success: true,
      data: await present(deps, callerOf(request).workspaceId),
    }),
  )
  app.post(
    `${PATH}/fetch`,
    {
      config: { limit: 'mail tests' },
      schema: {
        summary: 'Fetch the data of Microsoft now',
        description: 'They appear within five minutes.',
        tags,
        response: responses(Success(SndsAccess)),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      if (!(await findSndsAccess(deps.db, workspaceId))) throw notFound()
      if (!(await makeDue(deps.db, 'snds_access', workspaceId)))
        throw new Fault('conflict', 'The links no longer work. Enter new ones first.')
      return { success: true, data: await present(deps, workspaceId) }
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
          'Of its automated data access. They work for 30 days from now; an alert comes before.',
        tags,
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
      await db.transaction().execute(async (trx) => {
        await saveSndsAccess(trx, workspaceId, { sealed, approvedOn })
        await raiseResolved(trx, accessRenewedAlert(workspaceId, 'link'))
        await notifyChange(trx, workspaceId, 'checks', workspaceId)
      })
      return { success: true, data: await present(deps, workspaceId) }
    },
  )
  app.patch(
    PATH,
    {
      schema: {
        summary: 'Enter when Microsoft last approved the access to SNDS',
        description: 'It ends after ten months; an alert comes 30 days before.',
        tags,
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
      return { success: true, data: await present(deps, workspaceId) }
    },
  )
  app.delete(
    PATH,
    {
      schema: {
        summary: 'Delete the links of Microsoft SNDS',
        description: 'What was fetched is kept for 400 days.',
        tags,
        response: responses(Done),
      },
    },
    async (request) => {
      const { workspaceId } = callerOf(request)
      const isDeleted = await db
        .transaction()
        .execute(async (trx) => removeAccess(trx, workspaceId))
      if (!isDeleted) throw notFound()
      return { success: true }
    },
  )
}

async function removeAccess(trx: Db, workspaceId: string): Promise<boolean> {
  if (!(await deleteSndsAccess(trx, workspaceId))) return false
  for (const incident of [undefined, ...Object.values(SNDS_INCIDENTS)])
    await raiseResolved(trx, disconnectedAlert(workspaceId, 'snds_access', incident))
  await notifyChange(trx, workspaceId, 'checks', workspaceId)
  return true
}

const notFound = () => new Fault('not_found', 'This workspace has no links of Microsoft SNDS.')

function requirePast(approvedOn: string | null | undefined): void {
  // The day may have begun already where the person is.
  if (!approvedOn || Date.parse(approvedOn) <= Date.now() + DAY_MS) return
  const [path, message] = ['approvedOn', 'must not be in the future']
  throw new Fault('invalid_request', `${path} ${message}.`, { details: [{ path, message }] })
}

async function present({ db, secretKey }: Deps, workspaceId: string) {
  const since = new Date(Date.now() - SHOWN_DAYS * DAY_MS).toISOString().slice(0, 10)
  const [access, addresses, blocks] = await Promise.all([
    findSndsAccess(db, workspaceId),
    listLatestSndsDays(db, workspaceId, { since, limit: MAX_GROUP_ROWS }),
    listSndsBlocks(db, workspaceId),
  ])
  return {
    access: access ? presentAccess(access, secretKey) : null,
    addresses,
    blocks: blocks.slice(0, MAX_GROUP_ROWS),
  }
}

function presentAccess(access: SndsAccessRow, secretKey: string) {
  const { enteredAt, approvedOn, problem, fetchedAt, dueAt } = access
  return {
    hasStatusLink: hasStatusLink(access, secretKey),
    enteredAt,
    linksEndAt: new Date(enteredAt.getTime() + SNDS_LINK_DAYS * DAY_MS),
    approvedOn,
    approvalEndsOn:
      approvedOn === null
        ? null
        : monthsBefore(new Date(approvedOn), -SNDS_APPROVAL_MONTHS).toISOString().slice(0, 10),
    state: accessStateOf(access),
    problem,
    fetchedAt,
    nextFetchAt: dueAt,
  }
}

/** False when they were encrypted with another key: then they must be entered again anyway. */
function hasStatusLink(access: SndsAccessRow, secretKey: string): boolean {
  const links = ifDecryptable(() => decryptLinks(access, secretKey))
  return links !== null && links.status !== null
}
