import { SECOND_MS } from '../time.ts'
import { REFRESH_MARGIN } from './limits.ts'
import type { OAuthClient, Tokens } from './oauth-client.ts'
import { toFault } from './oauth-problem.ts'
import type { FreshToken } from './token-source.ts'

/** Keeps the tokens of one process, which are lost when it ends. */
export function createMemoryTokens(client: OAuthClient, granted: Tokens): FreshToken {
  let tokens = granted
  let refreshAt = refreshTimeOf(tokens)
  let refreshing: Promise<void> | null = null

  async function refresh(): Promise<void> {
    tokens = await client.refresh(tokens.refreshToken).catch((error: unknown) => {
      throw toFault(error)
    })
    refreshAt = refreshTimeOf(tokens)
  }

  return async (rejected) => {
    if (performance.now() >= refreshAt || tokens.accessToken === rejected) {
      refreshing ??= refresh().finally(() => (refreshing = null))
      await refreshing
    }
    return tokens.accessToken
  }
}

function refreshTimeOf({ lifetimeSeconds }: Tokens): number {
  const margin = Math.min(REFRESH_MARGIN.seconds, lifetimeSeconds * REFRESH_MARGIN.share)
  return performance.now() + (lifetimeSeconds - margin) * SECOND_MS
}
