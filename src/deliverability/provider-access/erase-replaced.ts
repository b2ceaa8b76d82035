import type { Transaction } from 'kysely'
import type { EraseCredential } from '../../mail-credentials/erase-credential.ts'
import type { DB } from '../../store/tables.ts'

type SignedIn = { workspaceId: string; credentialId: string }

/**
 * Erases the sign-in that another one replaces.
 * @param before the access until now
 * @returns revokes it at its provider, after the transaction; null where there is none
 */
export async function eraseReplaced(
  eraseCredential: EraseCredential,
  trx: Transaction<DB>,
  before: { credentialId: string | null } | undefined,
  { workspaceId, credentialId }: SignedIn,
): Promise<Awaited<ReturnType<EraseCredential>> | null> {
  const other = before?.credentialId ?? null
  return other === null || other === credentialId ? null : eraseCredential(trx, workspaceId, other)
}
