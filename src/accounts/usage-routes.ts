import type { Plan } from '../config.ts'
import { callerOf, type AuthHooks } from '../http/auth.ts'
import { answers, PageQuery, paginationOf, security, sliceOf, Success } from '../http/schema.ts'
import type { App } from '../http/server.ts'
import type { Db } from '../store/database.ts'
import { OVER_QUOTA_EFFECTS, QUOTA_BYTES, QUOTAS, type Quota } from './quotas.ts'
import { AccountUsagePage, Usage } from './shapes.ts'
import { countAccounts, listAccounts } from './store.ts'

/** Reads the bytes that accounts store of one kind; accounts that store nothing may be missing. */
export type UsageReader = (accountIds: string[]) => Promise<{ accountId: string; bytes: number }[]>

export type UsageRoutesDeps = { db: Db; authHooks: AuthHooks; readers: Record<Quota, UsageReader> }

/** `/api/v1/account/usage` and, for administrators, `/api/v1/accounts/usage`. */
export function usageRoutes(app: App, deps: UsageRoutesDeps): void {
  const { db, authHooks } = deps
  app.get(
    '/api/v1/account/usage',
    {
      onRequest: authHooks.account,
      schema: {
        summary: 'Get the storage usage of the account',
        tags: ['Accounts'],
        security,
        response: answers(Success(Usage)),
      },
    },
    async (request) => {
      const { accountId, plan } = callerOf(request)
      const [data] = await readUsage(deps, [{ id: accountId, plan }])
      return { success: true, data: data ?? { plan, quotas: [] } }
    },
  )
  app.get(
    '/api/v1/accounts/usage',
    {
      onRequest: authHooks.admin,
      schema: {
        operationId: 'listAccountUsages',
        summary: 'List the storage usage of accounts',
        tags: ['Accounts'],
        description: 'Requires an administrator. Oldest account first.',
        security,
        querystring: PageQuery,
        response: answers(Success(AccountUsagePage)),
      },
    },
    async ({ query: { page, limit } }) => {
      const total = await countAccounts(db)
      const accounts = await readUsage(deps, await listAccounts(db, sliceOf({ page, limit })))
      return { success: true, data: { accounts, pagination: paginationOf({ page, limit }, total) } }
    },
  )
}

async function readUsage({ readers }: UsageRoutesDeps, accounts: { id: string; plan: Plan }[]) {
  const ids = accounts.map(({ id }) => id)
  const used = await Promise.all(
    QUOTAS.map(
      async (name) =>
        new Map((await readers[name](ids)).map(({ accountId, bytes }) => [accountId, bytes])),
    ),
  )
  return accounts.map(({ id, plan }) => ({
    accountId: id,
    plan,
    quotas: QUOTAS.map((name, index) => ({
      name,
      used: used[index]?.get(id) ?? 0,
      limit: QUOTA_BYTES[plan][name],
      beyond: OVER_QUOTA_EFFECTS[name],
    })),
  }))
}
