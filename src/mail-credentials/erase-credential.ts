import type { Transaction } from 'kysely'
import { Fault } from '../errors.ts'
import type { DB } from '../store/tables.ts'
import type { CredentialDeps } from './access-token.ts'
import { OAuthRejected } from './oauth-problem.ts'
import { takeCredential } from './mail-credentials.sql.ts'
import { decryptTokens } from './access-tokens.ts'

/** What became of a permission at its provider. */
export type Revocation = {
  provider: string
  outcome: 'revoked' | 'not_offered' | 'failed'
}

/**
 * Deletes the tokens of a person’s permission.
 * @returns revokes the permission at the provider (RFC 7009), after the transaction; null when there
 *   was none
 */
export type EraseCredential = (
  trx: Transaction<DB>,
  workspaceId: string,
  id: string,
) => Promise<(() => Promise<Revocation>) | null>

export function createEraseCredential({ secretKey, clients }: CredentialDeps): EraseCredential {
  return async (trx, workspaceId, id) => {
    const row = await takeCredential(trx, workspaceId, id)
    if (!row) return null
    return async () => {
      const client = await clients.find(row.provider, row.purpose)
      if (!client) return { provider: row.provider, outcome: 'not_offered' }
      const provider = client.provider.name
      try {
        const { refreshToken } = decryptTokens(row.sealed, secretKey, id)
        const isRevoked = await client.revoke(refreshToken)
        return { provider, outcome: isRevoked ? 'revoked' : 'not_offered' }
      } catch (error) {
        if (error instanceof Fault || error instanceof OAuthRejected)
          return { provider, outcome: 'failed' }
        throw error
      }
    }
  }
}
