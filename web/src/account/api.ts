import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { Usage as UsageShape } from '../../../src/accounts/shapes.ts'
import { request, type ApiResponse } from '../api.ts'

export type QuotaUsage = Static<typeof UsageShape>['quotas'][number]

/** A session in the format of better-auth. */
export type SignInSession = {
  token: string
  userAgent: string | null
  ipAddress: string | null
  updatedAt: string
}

const BASE = '/api/auth'

const REAUTHENTICATE = '/api/v1/account/reauthenticate'

/** All data of the account, one JSON object per line. It needs a session. */
export const EXPORT = '/api/v1/account/export'

export const profile = {
  rename: (name: string) => request<unknown>('POST', `${BASE}/update-user`, { body: { name } }),
  changePassword: (currentPassword: string, newPassword: string) =>
    request<unknown>('POST', `${BASE}/change-password`, {
      body: { currentPassword, newPassword, revokeOtherSessions: true },
    }),
  /** All sessions, newest first, and the token of the current one. */
  sessions: async (): Promise<{ current: string; sessions: SignInSession[] }> => {
    const [all, mine] = await Promise.all([
      request<SignInSession[]>('GET', `${BASE}/list-sessions`),
      request<{ session: SignInSession } | null>('GET', `${BASE}/get-session`),
    ])
    const newestFirst = all.toSorted((one, other) => other.updatedAt.localeCompare(one.updatedAt))
    return { current: mine?.session.token ?? '', sessions: newestFirst }
  },
  endSession: (token: string) =>
    request<unknown>('POST', `${BASE}/revoke-session`, { body: { token } }),
  deleteAccount: (password: string) =>
    request<unknown>('POST', '/api/v1/account/erase', { body: { password } }),
  /** Confirms the password, so that actions that need a recent sign-in succeed for ten minutes. */
  reauthenticate: (password: string) =>
    request<unknown>('POST', REAUTHENTICATE, { body: { password } }),
  /** Asks for the password unless the sign-in is recent; throws when the user cancels. */
  ensureRecentSignIn: () => request<unknown>('GET', REAUTHENTICATE),
  endOtherSessions: () => request<unknown>('POST', `${BASE}/revoke-other-sessions`, { body: {} }),
}

export const sessionsQuery = queryOptions({ queryKey: ['sessions'], queryFn: profile.sessions })

const USAGE_REFRESHED_MS = 30_000

/** Storage usage of the account and its quotas. */
export const usageQuery = queryOptions({
  queryKey: ['account', 'usage'],
  queryFn: async () =>
    (await request<ApiResponse<Static<typeof UsageShape>>>('GET', '/api/v1/account/usage')).data,
  refetchInterval: USAGE_REFRESHED_MS,
})
