import type { Plan } from '../../config.ts'
import { callerOf } from '../../http/auth.ts'
import { responses, paginationOf, sliceOf, Success } from '../../http/http-schema.ts'
import type { App } from '../../http/http-server.ts'
import type { Db } from '../../store/database.ts'
import { listAnsweredFor, listLargestPlans } from '../../store/responsible.ts'
import { OVER_QUOTA_EFFECTS, QUOTA_BYTES, QUOTAS, scarcerOf, type Quota } from './account-quotas.ts'
import { AccountQuery, AccountUsagePage, Usage } from '../shapes.ts'
import { countAccounts, listAccounts } from '../accounts.sql.ts'

/** Reads the bytes that workspaces store of one kind; those that store nothing may be missing. */
type UsageReader = (workspaceIds: string[]) => Promise<{ workspaceId: string; bytes: number }[]>

export type UsageReaders = Record<Quota, UsageReader>

type UsageDeps = { db: Db; readers: UsageReaders }

/** `/api/v1/account/usage`: the storage usage of the caller’s workspace, or of its account. */
export function usageRoute(app: App, { db, readers }: UsageDeps): void {
  app.get(
    '/api/v1/account/usage',
    {
      schema: {
        summary: 'Get the storage usage of the workspace',
        description:
          'Each quota applies to a workspace, and to the account that answers for it over all its workspaces. `used` and `limit` are of the one of which less is left.',
        response: responses(Success(Usage)),
      },
    },
    async (request) => {
      const { workspaceId: id, responsibleId, plan } = callerOf(request)
      const quotasOf = await readQuotas(readers, [id])
      const accounts = await readAccountQuotas({ db, readers }, [responsibleId])
      const shared = accounts.get(responsibleId) ?? []
      const quotas = quotasOf({ id, plan }).map((own, index) => ({
        ...own,
        ...scarcerOf(own, shared[index] ?? own),
      }))
      return { success: true, data: { plan, quotas } }
    },
  )
}

/** `/api/v1/accounts/usage`: the storage usage of all accounts, for administrators. */
export function accountUsagesRoute(app: App, { db, readers }: UsageDeps): void {
  app.get(
    '/api/v1/accounts/usage',
    {
      schema: {
        operationId: 'listAccountUsages',
        summary: 'List the storage usage of accounts',
        description:
          'Requires an administrator. In the order of the list of accounts. An account’s usage is that of all workspaces that it answers for.',
        querystring: AccountQuery,
        response: responses(Success(AccountUsagePage)),
      },
    },
    async ({ query: { page, limit, q, sort: order } }) => {
      const total = await countAccounts(db, q)
      const rows = await listAccounts(db, { q, order }, sliceOf({ page, limit }))
      const ids = rows.map(({ id }) => id)
      const quotas = await readAccountQuotas({ db, readers }, ids)
      const accounts = rows.map(({ id, plan }) => ({
        accountId: id,
        plan,
        quotas: quotas.get(id) ?? [],
      }))
      return { success: true, data: { accounts, pagination: paginationOf({ page, limit }, total) } }
    },
  )
}

/** Reads the storage usage of accounts: of all workspaces that each answers for. */
async function readAccountQuotas({ db, readers }: UsageDeps, accountIds: string[]) {
  const workspaces = await listAnsweredFor(db, accountIds)
  const quotasOf = await readQuotas(
    readers,
    workspaces.map(({ id }) => id),
  )
  const plans = await listLargestPlans(db, accountIds)
  return new Map(
    plans.map(({ id, plan }) => {
      const own = workspaces.filter(({ responsibleId }) => responsibleId === id)
      const all = own.map((workspace) => quotasOf({ id: workspace.id, plan }))
      const quotas = quotasOf({ id, plan }).map((quota, index) => ({
        ...quota,
        used: all.reduce((sum, one) => sum + (one[index]?.used ?? 0), 0),
      }))
      return [id, quotas] as const
    }),
  )
}

/**
 * Reads the storage usage of workspaces.
 * @returns a function that gives the quotas of one of them
 */
export async function readQuotas(readers: UsageReaders, ids: string[]) {
  const used = await Promise.all(
    QUOTAS.map(
      async (name) =>
        new Map((await readers[name](ids)).map(({ workspaceId, bytes }) => [workspaceId, bytes])),
    ),
  )
  return ({ id, plan }: { id: string; plan: Plan }) =>
    QUOTAS.map((name, index) => ({
      name,
      used: used[index]?.get(id) ?? 0,
      limit: QUOTA_BYTES[plan][name],
      beyond: OVER_QUOTA_EFFECTS[name],
    }))
}
