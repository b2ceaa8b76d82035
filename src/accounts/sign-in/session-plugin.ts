import type { BetterAuthPlugin } from 'better-auth'
import { createAuthEndpoint } from 'better-auth/api'
import { setSessionCookie } from 'better-auth/cookies'
import type { SignInMethod } from '../../http/auth.ts'

const START_SESSION = {
  method: 'POST',
  metadata: { $Infer: { body: {} as { accountId: string; method: SignInMethod } } },
} as const

/**
 * Adds `auth.api.startSession`, which opens a session for an account whose identity was proven
 * outside the library. It is not reachable over HTTP.
 */
export const sessionPlugin = {
  id: 'portreeve-session',
  endpoints: {
    startSession: createAuthEndpoint.serverOnly(START_SESSION, async (ctx) => {
      const { accountId, method } = ctx.body
      const { internalAdapter } = ctx.context
      const user = await internalAdapter.findUserById(accountId)
      if (!user) return ctx.json({ token: null })
      const session = await internalAdapter.createSession(
        accountId,
        false,
        { signedInWith: method },
        true,
      )
      await setSessionCookie(ctx, { session, user })
      return ctx.json({ token: session.token })
    }),
  },
} satisfies BetterAuthPlugin
