import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import type { OAuthClients } from '../access-token.ts'
import { createOAuthClient } from '../oauth-client.ts'
import { configuredProviders, type ProviderConfig } from '../providers.ts'

/** The clients that the settings have. */
export function createConfiguredClients(
  config: ProviderConfig,
  guardedFetch: GuardedFetch,
): OAuthClients {
  const clients = configuredProviders(config).map((provider) =>
    createOAuthClient(provider, guardedFetch),
  )
  return {
    find: async (id) => clients.find(({ provider }) => provider.id === id),
    list: async () => clients,
  }
}
