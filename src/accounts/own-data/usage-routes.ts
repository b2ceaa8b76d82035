import type { Plan } from '../../config.ts'
import { callerOf } from '../../http/auth.ts'
import { responses, paginationOf, sliceOf, Success } from '../../http/schema.ts'
import type { App } from '../../http/server.ts'
import type { Db } from '../../store/database.ts'
import { OVER_QUOTA_EFFECTS, QUOTA_BYTES, QUOTAS, type Quota } from './quotas.ts'
import { AccountQuery, AccountUsagePage, Usage } from '../shapes.ts'
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
      const quotasOf = await readQuotas(readers, [workspaceId])
      return { success: true, data: { plan, quotas: quotasOf({ id: workspaceId, plan }) } }
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
        description: 'Requires an administrator. In the order of the list of accounts.',
        querystring: AccountQuery,
        response: responses(Success(AccountUsagePage)),
      },
    },
    async ({ query: { page, limit, q, sort: order } }) => {
      const total = await countAccounts(db, q)
      const rows = await listAccounts(db, { q, order }, sliceOf({ page, limit }))
      const ids = rows.map(({ id }) => id)
      const quotasOf = await readQuotas(readers, ids)
      const accounts = rows.map((row) => ({
        accountId: row.id,
        plan: row.plan,
        quotas: quotasOf(row),
      }))
      return { success: true, data: { accounts, pagination: paginationOf({ page, limit }, total) } }
    },
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
