import type { Plan } from '../../config.ts'
import { callerOf } from '../../http/auth.ts'
import { responses, PageQuery, paginationOf, sliceOf, Success } from '../../http/schema.ts'
import type { App } from '../../http/server.ts'
import type { Db } from '../../store/database.ts'
import { OVER_QUOTA_EFFECTS, QUOTA_BYTES, QUOTAS, type Quota } from './quotas.ts'
import { AccountUsagePage, Usage } from '../shapes.ts'
import { countAccounts, listAccounts } from '../store.ts'

/** Reads the bytes that workspaces store of one kind; those that store nothing may be missing. */
export type UsageReader = (
  workspaceIds: string[],
) => Promise<{ workspaceId: string; bytes: number }[]>

export type UsageReaders = Record<Quota, UsageReader>

/** `/api/v1/account/usage`: the storage usage of the caller’s account. */
export function usageRoute(app: App, readers: UsageReaders): void {
  app.get(
    '/api/v1/account/usage',
    {
      schema: {
        summary: 'Get the storage usage of the account',
        tags: ['Accounts'],
        response: responses(Success(Usage)),
      },
    },
    async (request) => {
      const { workspaceId, plan } = callerOf(request)
      const [data] = await readUsage(readers, [{ id: workspaceId, plan }])
      return { success: true, data: data ?? { plan, quotas: [] } }
    },
  )
}

/** `/api/v1/accounts/usage`: the storage usage of all accounts, for administrators. */
export function accountUsagesRoute(
  app: App,
  { db, readers }: { db: Db; readers: UsageReaders },
): void {
  app.get(
    '/api/v1/accounts/usage',
    {
      schema: {
        operationId: 'listAccountUsages',
        summary: 'List the storage usage of accounts',
        tags: ['Accounts'],
        description: 'Requires an administrator. Oldest account first.',
        querystring: PageQuery,
        response: responses(Success(AccountUsagePage)),
      },
    },
    async ({ query: { page, limit } }) => {
      const total = await countAccounts(db)
      const accounts = await readUsage(readers, await listAccounts(db, sliceOf({ page, limit })))
      return { success: true, data: { accounts, pagination: paginationOf({ page, limit }, total) } }
    },
  )
}

async function readUsage(readers: UsageReaders, accounts: { id: string; plan: Plan }[]) {
  const ids = accounts.map(({ id }) => id)
  const used = await Promise.all(
    QUOTAS.map(
      async (name) =>
        new Map((await readers[name](ids)).map(({ workspaceId, bytes }) => [workspaceId, bytes])),
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
