import type { FastifyRequest } from 'fastify'
import { Fault } from '../../../errors.ts'
import {
  verifyRequest,
  type SignedRequest,
  type Verification,
} from '../../../protocols/http-signature.ts'
import type { Identity } from '../identity.ts'
import { MAX_CLOCK_SKEW_MS } from '../limits.ts'
import { insertNonce } from '../peers/peers.sql.ts'
import type { Db } from '../../../store/database.ts'
import { PEER_HEADER } from './client.ts'

/** The request as its sender signed it: to this installation, whatever a proxy made of the host. */
export function signedRequestOf(
  { method, url, headers }: FastifyRequest,
  identity: Identity,
): SignedRequest {
  const texts = Object.entries(headers).flatMap(([name, value]) =>
    typeof value === 'string' ? [[name, value]] : [],
  )
  return { method, url: identity.url + url, headers: Object.fromEntries(texts) }
}

/** Verifies a request, and names the installation that it says it is from. */
export function verifyPeerRequest(
  request: SignedRequest,
  publicKeys: readonly string[],
): Promise<Verification> {
  return verifyRequest(request, publicKeys, [PEER_HEADER])
}

/** Whether a signature was made within the minutes for which it counts. */
export const isRecent = (created: number, now: number) =>
  Math.abs(now - created) <= MAX_CLOCK_SKEW_MS

/**
 * Accepts a verified request once, and only for some minutes.
 * @throws Fault `unauthenticated`
 */
export async function requireFresh(db: Db, verification: Verification, now: number): Promise<void> {
  if (verification.result !== 'valid')
    throw new Fault('unauthenticated', 'The request has no valid signature of this peer.')
  const { created, keyId, nonce } = verification.parameters
  if (!isRecent(created, now))
    throw new Fault(
      'unauthenticated',
      'The signature is too old or from the future. Synchronize the clocks (NTP).',
    )
  if (
    !(await insertNonce(db, { fingerprint: keyId, nonce: nonce.slice(0, 100), at: new Date(now) }))
  )
    throw new Fault('unauthenticated', 'The request was received before.')
}
