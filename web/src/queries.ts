import { queryOptions, useQuery } from '@tanstack/react-query'
import { api } from './api.ts'

/** Who is signed in; null when nobody is. */
export const accountQuery = queryOptions({ queryKey: ['account'], queryFn: api.account, staleTime: 60_000 })

export const serviceQuery = queryOptions({ queryKey: ['service'], queryFn: api.service, staleTime: 60_000 })

export const tokensQuery = queryOptions({ queryKey: ['tokens'], queryFn: api.tokens })

/** The domain of the account’s own address: what its owner may ask about first. */
export function useOwnDomain(): string {
  const { data: account } = useQuery(accountQuery)
  return account?.email.split('@')[1] ?? 'example.com'
}
