import type { Kysely } from 'kysely'
import { Fault } from '../../errors.ts'
import { signInWithToken } from '../../mail-credentials/mailbox-sign-in.ts'
import type { OpenTokens } from '../../mail-credentials/token-source.ts'
import { parseHost } from '../../net/address.ts'
import type { Resolver } from '../../net/dns.ts'
import { checkTarget } from '../../net/guard.ts'
import { signIn, type Session } from '../../net/imap/connection/imap-session.ts'
import type { SubmissionServer } from '../../net/smtp-submission.ts'
import type { PrivateTargets } from '../../setting-values.ts'
import { decrypt } from '../../store/encryption.ts'
import type { EncryptedColumn } from '../../store/key-rotation.ts'
import type { DB } from '../../store/tables.ts'
import type { CanaryRow, SeedRow } from './canary.sql.ts'

export type CanaryDeps = {
  db: Kysely<DB>
  secretKey: string
  resolver: Resolver
  allowPrivate: PrivateTargets
  openTokens: OpenTokens
}

/** Binds the encrypted password of a canary, or of a seed, to its row. */
export const canaryContext = (id: string) => `canary/${id}/password`
export const seedContext = (id: string) => `canary-seed/${id}/password`

/** The columns with passwords of canaries. */
export const CANARY_ENCRYPTED_COLUMNS: EncryptedColumn[] = [
  { table: 'canary', id: 'id', column: 'sealed', contextOf: canaryContext },
  { table: 'canary_seed', id: 'id', column: 'sealed', contextOf: seedContext },
]

type SubmissionSettings = Pick<CanaryRow, 'host' | 'port' | 'secure' | 'tlsVerify' | 'username'>

/**
 * The server through which a canary sends, at an address that was checked.
 * @throws Fault `target_not_allowed`, `upstream_unreachable`, `upstream_timeout`
 */
export async function openSubmission(
  deps: CanaryDeps,
  { host, port, secure, tlsVerify, username }: SubmissionSettings,
  password: string,
  signal: AbortSignal,
): Promise<SubmissionServer> {
  const target = await checkTarget(parseHost(host), deps, signal)
  return { target, port, secure, tlsVerify, user: username, password }
}

type SeedSettings = Pick<
  SeedRow,
  'workspaceId' | 'host' | 'port' | 'secure' | 'tlsVerify' | 'username' | 'credentialId'
>

/**
 * Signs in to the mailbox of a seed, with its password or its sign-in at the provider.
 * @param isWork whether stored work uses the sign-in, rather than a request of a person
 * @throws as `signIn`; Fault `conflict` without a sign-in
 */
export async function openSeed(
  deps: CanaryDeps,
  { workspaceId, host, port, secure, tlsVerify, username: user, credentialId }: SeedSettings,
  { password, isWork }: { password: string | null; isWork: boolean },
  signal: AbortSignal,
): Promise<Session> {
  const open = async () => ({
    target: await checkTarget(parseHost(host), deps, signal),
    port,
    secure,
    user,
    tlsVerify,
  })
  if (password !== null) return signIn({ ...(await open()), password }, signal)
  if (credentialId === null)
    throw new Fault('conflict', 'Its sign-in was deleted. Delete the seed and add it again.')
  // First of all, whether the sign-in is for this server.
  const freshToken = await deps.openTokens(
    { workspaceId, credentialId, isWork },
    { host, tlsVerify, user },
  )
  return signInWithToken(await open(), freshToken, signal)
}

export function passwordOfCanary({ secretKey }: CanaryDeps, { id, sealed }: CanaryRow): string {
  return decrypt(sealed, secretKey, canaryContext(id))
}

export function passwordOfSeed({ secretKey }: CanaryDeps, { id, sealed }: SeedRow): string | null {
  return sealed === null ? null : decrypt(sealed, secretKey, seedContext(id))
}
