import { queryOptions, useQuery } from '@tanstack/react-query'
import { api, type Account } from './api.ts'
import { signInPrompt } from './session.ts'

const ACCOUNT_KEY = ['account']

/**
 * The signed-in account; null without a session. When its session ends, the account stays until the
 * user has signed in again or left, so that the screen and its input stay, too.
 */
export const accountQuery = queryOptions({
  queryKey: ACCOUNT_KEY,
  queryFn: async ({ client }) => {
    const account = await api.account()
    const before = client.getQueryData<Account | null>(ACCOUNT_KEY) ?? null
    if (account === null && before !== null) void signInPrompt.ask(false)
    return account ?? before
  },
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
