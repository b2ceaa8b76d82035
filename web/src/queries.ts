import { queryOptions } from '@tanstack/react-query'
import { api } from './api.ts'

/** Who is signed in; null when nobody is. */
export const accountQuery = queryOptions({ queryKey: ['account'], queryFn: api.account, staleTime: 60_000 })

export const serviceQuery = queryOptions({ queryKey: ['service'], queryFn: api.service, staleTime: 60_000 })

export const tokensQuery = queryOptions({ queryKey: ['tokens'], queryFn: api.tokens })
