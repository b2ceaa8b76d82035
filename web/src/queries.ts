import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from './api.ts'

/** The signed-in account; null without a session. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: api.account,
  staleTime: 60_000,
})

export const serviceQuery = queryOptions({
  queryKey: ['service'],
  queryFn: api.service,
  staleTime: 60_000,
})

export const tokensQuery = queryOptions({ queryKey: ['tokens'], queryFn: api.tokens })

/** The domain of the account’s email address, used in examples. */
export function useOwnDomain(): string {
  const { data: account } = useQuery(accountQuery)
  return account?.email.split('@')[1] ?? 'example.com'
}
