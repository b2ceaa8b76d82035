import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import { decrypt } from '../../store/encryption.ts'
import type { EncryptedColumn } from '../../store/key-rotation.ts'
import type { DB } from '../../store/tables.ts'
import type { OAuthClients } from '../access-token.ts'
import { createOAuthClient, type OAuthClient } from '../oauth-client.ts'
import {
  configuredProviders,
  providerWithClient,
  type ProviderConfig,
  type ProviderId,
} from '../providers.ts'
import { findClientOf, listClients, type ClientRow } from './store.ts'

/** Binds the secret of a client to its row. */
export const clientContext = (id: string) => `mail_client/${id}`

export const CLIENT_ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  { table: 'mail_client', id: 'id', column: 'sealed', contextOf: clientContext },
]

type Deps = {
  db: Kysely<DB>
  secretKey: string
  config: ProviderConfig
  guardedFetch: GuardedFetch
}

/**
 * The clients of this service at the providers: those of the settings, and others that an
 * administrator has entered, which every use reads again because another instance may have changed
 * them.
 */
export function createClients({ db, secretKey, config, guardedFetch }: Deps): OAuthClients {
  const configured = new Map(
    configuredProviders(config).map((provider) => [
      provider.id,
      createOAuthClient(provider, guardedFetch),
    ]),
  )
  const entered = new Map<ProviderId, { key: string; client: OAuthClient }>()

  function open(row: ClientRow): OAuthClient | undefined {
    const key = JSON.stringify(row)
    const known = entered.get(row.provider)
    if (known?.key === key) return known.client
    const { provider, clientId, tenant } = row
    const clientSecret = readSecret(row, secretKey)
    if (clientSecret === null) return undefined
    const found = providerWithClient(config, provider, { clientId, clientSecret, tenant })
    if (!found) return undefined
    const client = createOAuthClient(found, guardedFetch)
    entered.set(provider, { key, client })
    return client
  }

  return {
    async find(id) {
      const client = configured.get(id)
      if (client) return client
      const row = await findClientOf(db, id)
      return row && open(row)
    },
    async list() {
      const rows = (await listClients(db)).filter(({ provider }) => !configured.has(provider))
      return [...configured.values(), ...rows.flatMap((row) => open(row) ?? [])]
    },
  }
}

/** Null when it was encrypted with another key: then the provider counts as not set up. */
function readSecret({ id, sealed }: ClientRow, secretKey: string): string | undefined | null {
  if (sealed === null) return undefined
  try {
    return decrypt(sealed, secretKey, clientContext(id))
  } catch (error) {
    if (error instanceof Fault) return null
    throw error
  }
}
