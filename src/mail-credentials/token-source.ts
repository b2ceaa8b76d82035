import { Fault, invalidField } from '../errors.ts'
import {
  requireClient,
  requireFound,
  type CredentialDeps,
  type ReadAccessToken,
} from './access-token.ts'
import type { ReadAdministratorToken } from './administrator/administrator-tokens.ts'
import { requireAdministratorProvider } from './administrator/administrator-provider.ts'
import { decryptAdministrator } from './administrator/secret.ts'
import type { MailProvider } from './providers.ts'
import { findCredential, type CredentialRow } from './mail-credentials.sql.ts'

/** Returns a token that is valid for a while, and another one for a rejected token. */
export type FreshToken = (rejected?: string) => Promise<string>

/** The server that a token is for. */
type TokenServer = { host: string; tlsVerify: boolean; user: string }

/**
 * Opens a credential for a server.
 * @param path of the credential in the request, for the details of a fault
 * @throws Fault `not_found`, `conflict`, `invalid_request` for a server of somebody else
 */
export type OpenTokens = (
  use: {
    workspaceId: string
    credentialId: string
    path?: string
    /** Whether work that was stored uses it, rather than a request of a person. */
    isWork?: boolean
  },
  server: TokenServer,
) => Promise<FreshToken>

export function createTokenSource(
  deps: CredentialDeps,
  read: ReadAccessToken,
  readAdministrator: ReadAdministratorToken,
): OpenTokens {
  async function readFor(id: CredentialId, user: string, rejected?: string): Promise<string> {
    const row = requireFound(await findCredential(deps.db, id.workspaceId, id.credentialId))
    return readAdministrator(row, user, rejected)
  }

  return async ({ workspaceId, credentialId, path = 'credentialId', isWork = false }, server) => {
    const row = await findCredential(deps.db, workspaceId, credentialId)
    if (!row || row.purpose !== 'mailbox' || (row.isOwners && !isWork))
      throw new Fault('not_found', 'The sign-in to the mailbox was not found. Sign in again.', {
        details: [{ path, message: 'was not found' }],
      })
    const provider = await providerOf(deps, row)
    // Whoever may use a credential must not see its tokens by naming a server of their own.
    const { host, tlsVerify, user } = server
    if (!provider.hosts.includes(host.toLowerCase()))
      throw invalidField(
        path,
        `is for the servers of ${provider.name}: ${provider.hosts.join(', ')}`,
      )
    if (!tlsVerify && provider.id !== 'other')
      throw invalidField(path, 'is only used with a verified certificate: set tlsVerify to true')
    if (row.kind === 'person') return (rejected) => read(workspaceId, credentialId, rejected)
    return (rejected) => readFor({ workspaceId, credentialId }, user, rejected)
  }
}

type CredentialId = { workspaceId: string; credentialId: string }

async function providerOf(
  { clients, secretKey }: CredentialDeps,
  { id, kind, provider, sealed }: CredentialRow,
): Promise<MailProvider> {
  if (kind === 'person') return (await requireClient(clients, { provider })).provider
  const secret = decryptAdministrator(sealed, secretKey, id)
  return requireAdministratorProvider(clients, provider, secret)
}
