import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type {
  Account as AccountShape,
  AccountChange,
  AccountPage,
  AccountUsagePage,
  AuditEntry,
  AuditPage,
  NewAccount,
} from '../../../src/accounts/shapes.ts'
import type { Health as HealthShape } from '../../../src/diagnostics/shapes.ts'
import { request, type Data } from '../api.ts'
import { searchOf } from '../search.ts'

export type Person = Static<typeof AccountShape>
export type People = Static<typeof AccountPage>
export type Change = Static<typeof AccountChange>
export type Act = Static<typeof AuditEntry>
export type Health = Static<typeof HealthShape>

/** What narrows the acts down: a text in any part of them. */
export type ActFilter = { q?: string | undefined; page?: number | undefined }

const ACCOUNTS = '/api/v1/accounts'

export const administration = {
  /** Asks the resolvers and blacklists now; takes some seconds. */
  health: async () => (await request<Data<Health>>('GET', '/api/v1/service/health')).data,
  people: async (page: number) => (await request<Data<People>>('GET', `${ACCOUNTS}?page=${page}&limit=20`)).data,
  usage: async (page: number) =>
    (await request<Data<Static<typeof AccountUsagePage>>>('GET', `${ACCOUNTS}/usage?page=${page}&limit=20`)).data,
  acts: async (filter: ActFilter) =>
    (await request<Data<Static<typeof AuditPage>>>('GET', `/api/v1/audit?${searchOf({ ...filter })}`)).data,
  add: async (wanted: Static<typeof NewAccount>) =>
    (await request<Data<Person>>('POST', ACCOUNTS, { body: wanted })).data,
  change: (id: string, change: Change) => request<unknown>('PATCH', `${ACCOUNTS}/${id}`, { body: change }),
  remove: (id: string) => request<unknown>('DELETE', `${ACCOUNTS}/${id}`),
}

/** Milliseconds between two looks at what may fail at any time. */
const LOOK_AGAIN = 30_000

export const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: administration.health,
  refetchInterval: LOOK_AGAIN,
})

export const peopleQuery = (page: number) =>
  queryOptions({ queryKey: ['people', page], queryFn: () => administration.people(page) })

/** What each of these accounts stores. */
export const peopleUsageQuery = (page: number) =>
  queryOptions({ queryKey: ['people', 'usage', page], queryFn: () => administration.usage(page) })

export const auditQuery = (filter: ActFilter) =>
  queryOptions({ queryKey: ['acts', filter], queryFn: () => administration.acts(filter) })
