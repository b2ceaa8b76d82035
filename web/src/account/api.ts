import { queryOptions } from '@tanstack/react-query'
import type { Static } from 'typebox'
import type { SignInMethods, Usage as UsageShape } from '../../../src/accounts/shapes.ts'
import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/browser'
import type { Passkey } from '../../../src/accounts/passkeys/shapes.ts'
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

const PASSKEYS = '/api/v1/account/passkeys'
const EMAIL = '/api/v1/account/email'

/** Where the browser goes to sign in at the OpenID provider. */
export const OIDC_START = '/api/auth/oidc/start'

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
  deleteAccount: (password?: string) =>
    request<unknown>('POST', '/api/v1/account/erase', { body: { password } }),
  /** Makes the sign-in recent, so that actions that need it succeed for ten minutes. */
  reauthenticate: (proof: { password: string } | { code: string }) =>
    request<unknown>('POST', REAUTHENTICATE, { body: proof }),
  /** Asks for the password unless the sign-in is recent; throws when the user cancels. */
  ensureRecentSignIn: () => request<unknown>('GET', REAUTHENTICATE),
  endOtherSessions: () => request<unknown>('POST', `${BASE}/revoke-other-sessions`, { body: {} }),
}

export type SignInMethodsOfAccount = Static<typeof SignInMethods>
export type PasskeyEntry = Static<typeof Passkey>

/** A passkey ceremony: options for the browser, and the state to send back with its answer. */
type Ceremony<Options> = { options: Options; state: string }

/** Second factors, passkeys, single sign-on and the address. */
export const security = {
  methods: async () =>
    (await request<ApiResponse<SignInMethodsOfAccount>>('GET', '/api/v1/account/sign-in-methods'))
      .data,
  startAuthenticator: (password?: string) =>
    request<{ totpURI: string; backupCodes: string[] }>('POST', `${BASE}/two-factor/enable`, {
      body: { password },
    }),
  verifyCode: (code: string, trustDevice = false) =>
    request<unknown>('POST', `${BASE}/two-factor/verify-totp`, { body: { code, trustDevice } }),
  verifyBackupCode: (code: string) =>
    request<unknown>('POST', `${BASE}/two-factor/verify-backup-code`, { body: { code } }),
  removeAuthenticator: (password?: string) =>
    request<unknown>('POST', `${BASE}/two-factor/disable`, { body: { password } }),
  replaceBackupCodes: (password?: string) =>
    request<{ backupCodes: string[] }>('POST', `${BASE}/two-factor/generate-backup-codes`, {
      body: { password },
    }),
  passkeys: async () => (await request<ApiResponse<PasskeyEntry[]>>('GET', PASSKEYS)).data,
  startPasskey: async () =>
    (
      await request<ApiResponse<Ceremony<PublicKeyCredentialCreationOptionsJSON>>>(
        'POST',
        `${PASSKEYS}/options`,
        { body: {} },
      )
    ).data,
  addPasskey: (passkey: { state: string; name: string; response: object }) =>
    request<unknown>('POST', PASSKEYS, { body: passkey }),
  removePasskey: (id: string) => request<unknown>('DELETE', `${PASSKEYS}/${id}`),
  startPasskeySignIn: async () =>
    (
      await request<ApiResponse<Ceremony<PublicKeyCredentialRequestOptionsJSON>>>(
        'POST',
        `${BASE}/passkey/options`,
        { body: {} },
      )
    ).data,
  signInWithPasskey: (answer: { state: string; response: object }) =>
    request<unknown>('POST', `${BASE}/passkey/sign-in`, { body: answer }),
  linkOidc: async () =>
    (await request<ApiResponse<{ url: string }>>('POST', '/api/v1/account/oidc', { body: {} }))
      .data,
  unlinkOidc: () => request<unknown>('DELETE', '/api/v1/account/oidc'),
  startEmailChange: async (email: string) =>
    (await request<ApiResponse<{ state: string }>>('POST', EMAIL, { body: { email } })).data,
  confirmEmailChange: (codes: { state: string; oldCode: string; newCode: string }) =>
    request<unknown>('POST', `${EMAIL}/confirm`, { body: codes }),
  requestPasswordReset: (email: string) =>
    request<unknown>('POST', '/api/v1/password-reset', { body: { email } }),
  resetPassword: (token: string, password: string) =>
    request<unknown>('POST', '/api/v1/password-reset/confirm', { body: { token, password } }),
}

export const methodsQuery = queryOptions({
  queryKey: ['account', 'sign-in methods'],
  queryFn: security.methods,
})

export const passkeysQuery = queryOptions({
  queryKey: ['account', 'passkeys'],
  queryFn: security.passkeys,
})

export const sessionsQuery = queryOptions({ queryKey: ['sessions'], queryFn: profile.sessions })

const USAGE_REFRESHED_MS = 30_000

/** Storage usage of the account and its quotas. */
export const usageQuery = queryOptions({
  queryKey: ['account', 'usage'],
  queryFn: async () =>
    (await request<ApiResponse<Static<typeof UsageShape>>>('GET', '/api/v1/account/usage')).data,
  refetchInterval: USAGE_REFRESHED_MS,
})
