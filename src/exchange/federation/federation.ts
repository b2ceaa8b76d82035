import type { Kysely } from 'kysely'
import { deriveKey } from '../../derive-key.ts'
import type { PrivateTargets } from '../../setting-values.ts'
import type { Resolver } from '../../net/dns.ts'
import { createGuardedFetch } from '../../net/http/guarded-fetch.ts'
import { loadStableKey, type SecretKeys } from '../../store/key-rotation.ts'
import type { DB } from '../../store/tables.ts'
import { createIdentity } from './identity.ts'
import { REQUEST_TIMEOUT_MS } from './limits.ts'
import { createPeerClient } from './protocol/client.ts'
import type { PeerDeps } from './peers/peers.ts'

export type FederationOptions = {
  db: Kysely<DB>
  /** Where the attack-reporting endpoints are reached. */
  url: string
  keys: SecretKeys
  resolver: Pick<Resolver, 'query'> | undefined
  allowPrivate: PrivateTargets
  clock: () => number
}

/** What routes, background work and commands of the federation share. */
export type Federation = PeerDeps & {
  /** Whether strangers may be at private addresses, and so at any port. */
  allowsPrivate: boolean
  /** Another limit than `IDENTITY_TIMEOUT_MS`. */
  identityTimeoutMs?: number
}

const KEY = 'federation key'

/** Without a resolver, only installations with an address in their URL can be reached. */
const NO_RESOLVER: Pick<Resolver, 'query'> = {
  query: async () => ({ status: 'FAILED', failure: 'REFUSED', server: null, ms: 0 }),
}

/** Creates the federation of this installation, with its key. */
export async function createFederation(options: FederationOptions): Promise<Federation> {
  const { db, url, keys, resolver = NO_RESOLVER, allowPrivate, clock } = options
  // Peers approved this key, so it stays the same when SECRET_KEY changes.
  const seed = await loadStableKey(db, KEY, (secretKey) => deriveKey(secretKey, KEY), keys)
  const identity = createIdentity(url, seed)
  const guard = { resolver: resolver as Resolver, allowPrivate }
  const client = createPeerClient(identity, createGuardedFetch(guard, REQUEST_TIMEOUT_MS), clock)
  const allowsPrivate = Array.isArray(allowPrivate) ? allowPrivate.length > 0 : allowPrivate
  return { db, identity, client, clock, allowsPrivate }
}
