import type { Kysely } from 'kysely'
import type { GuardedFetch } from '../../net/http/guarded-fetch.ts'
import { decrypt, ifDecryptable } from '../../store/encryption.ts'
import type { EncryptedColumn } from '../../store/key-rotation.ts'
import type { DB } from '../../store/tables.ts'
import type { OAuthClients } from '../access-token.ts'
import { createOAuthClient, type OAuthClient } from '../oauth-client.ts'
import {
  configuredProviders,
  providerWithClient,
  SNDS_PROVIDER,
  type MailClient,
  type ProviderConfig,
  type ProviderId,
} from '../providers.ts'
import { findClientOf, listClients, type ClientRow } from './oauth-clients.sql.ts'

/** Binds the secret of a client to its row. */
export const clientContext = (id: string) => `mail_client/${id}`

/** Binds the private key of a client to its row. */
export const clientKeyContext = (id: string) => `mail_client_key/${id}`

export const CLIENT_ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  { table: 'mail_client', id: 'id', column: 'sealed', contextOf: clientContext },
  { table: 'mail_client', id: 'id', column: 'sealed_key', contextOf: clientKeyContext },
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
  const snds = createOAuthClient(SNDS_PROVIDER, guardedFetch)
  const entered = new Map<ProviderId, { key: string; client: OAuthClient }>()

  function open(row: ClientRow): OAuthClient | undefined {
    const key = JSON.stringify(row)
    const known = entered.get(row.provider)
    if (known?.key === key) return known.client
    const { provider, clientId, tenant } = row
    const secrets = readSecrets(row, secretKey)
    if (secrets === null) return undefined
    const found = providerWithClient(config, provider, { clientId, ...secrets, tenant })
    if (!found) return undefined
    const client = createOAuthClient(found, guardedFetch)
    entered.set(provider, { key, client })
    return client
  }

  return {
    async find(id, purpose) {
      const client = purpose === 'snds' ? snds : configured.get(id)
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

/** Null when they were encrypted with another key: then the provider counts as not set up. */
function readSecrets(
  { id, sealed, certificate, sealedKey }: ClientRow,
  secretKey: string,
): Pick<MailClient, 'clientSecret' | 'clientCertificate'> | null {
  return ifDecryptable(() => ({
    clientSecret: sealed === null ? undefined : decrypt(sealed, secretKey, clientContext(id)),
    clientCertificate:
      certificate === null || sealedKey === null
        ? undefined
        : { certificate, privateKey: decrypt(sealedKey, secretKey, clientKeyContext(id)) },
  }))
}
