import type { OpenTokens } from '../mail-credentials/token-source.ts'
import { requireSecret, type AccountSecret } from './accounts.ts'
import type { RenewedSecret } from './secret-shapes.ts'
import type { AccountAddress, MigrationRow } from './store.ts'

type Side = 'source' | 'destination'

/** A migration with other sign-ins, and the secrets that belong to them. */
export type RenewedSides = { row: MigrationRow; secrets: Record<Side, AccountSecret> }

/**
 * Replaces the passwords, tokens or credentials of a migration whose stored ones were deleted.
 * Nothing is stored.
 * @throws Fault `invalid_request` when a side has none, `not_found`, `conflict` of a credential
 */
export async function renewSides(
  openTokens: OpenTokens,
  before: MigrationRow,
  given: Partial<Record<Side, RenewedSecret>>,
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
    const { credentialId, host, tlsVerify, user } = row[side]
    if (credentialId === undefined) continue
    await openTokens(
      { workspaceId, credentialId, path: `${side}.credentialId` },
      { host, tlsVerify, user },
    )
  }
  return { row, secrets: { source: source.secret, destination: destination.secret } }
}

function renewed({ credentialId, ...given }: RenewedSecret, side: Side) {
  return {
    secret: credentialId === undefined ? requireSecret(given, side) : {},
    applyTo: ({ credentialId: _before, ...address }: AccountAddress): AccountAddress =>
      credentialId === undefined ? address : { ...address, credentialId },
  }
}
