import type { OpenTokens } from '../mail-credentials/token-source.ts'
import { requireSecret, type AccountSecret } from './mailbox-accounts.ts'
import type { RetrySecret } from './secret-shapes.ts'
import type { AccountAddress, MigrationRow } from './migrations.sql.ts'

type Side = 'source' | 'destination'

/** A migration with other sign-ins, and the secrets that belong to them. */
export type RenewedSides = { row: MigrationRow; secrets: Record<Side, AccountSecret> }

/**
 * Replaces the passwords, tokens or credentials of a migration whose stored ones were deleted.
 * Nothing is stored.
 * @param given `owner` where the owner of the mailbox signs in later
 * @throws Fault `invalid_request` when a side has none, `not_found`, `conflict` of a credential
 */
export async function renewSides(
  openTokens: OpenTokens,
  before: MigrationRow,
  given: Partial<Record<Side, RetrySecret>>,
): Promise<RenewedSides> {
  const [source, destination] = [
    renewed(given.source ?? {}, 'source'),
    renewed(given.destination ?? {}, 'destination'),
  ]
  const row = {
    ...before,
    source: source.applyTo(before.source),
    destination: destination.applyTo(before.destination),
  }
  const { workspaceId } = row
  for (const side of ['source', 'destination'] as const) {
    const { credentialId, byOwner: isWork = false, host, tlsVerify, user } = row[side]
    if (credentialId === undefined) continue
    await openTokens(
      { workspaceId, credentialId, path: `${side}.credentialId`, isWork },
      { host, tlsVerify, user },
    )
  }
  return { row, secrets: { source: source.secret, destination: destination.secret } }
}

function renewed({ credentialId, owner, ...given }: RetrySecret, side: Side) {
  const hasSecret = credentialId === undefined && !owner
  return {
    secret: hasSecret ? requireSecret(given, side) : {},
    applyTo(before: AccountAddress): AccountAddress {
      const { administrator, credentialId: known, byOwner, waitsForOwner: _, ...address } = before
      if (owner) return { ...address, waitsForOwner: true }
      // What the owner has given stays for this mailbox alone.
      if (credentialId !== undefined && credentialId === known && byOwner)
        return { ...address, credentialId, byOwner }
      return {
        ...address,
        ...(administrator && { administrator }),
        ...(credentialId !== undefined && { credentialId }),
      }
    },
  }
}
