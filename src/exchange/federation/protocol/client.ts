import type { TSchema, Static } from 'typebox'
import { Value } from 'typebox/value'
import { Fault, messageOf } from '../../../errors.ts'
import type { GuardedFetch } from '../../../net/http/guarded-fetch.ts'
import {
  fingerprintOf,
  isPublicKey,
  signRequest,
  verifyResponse,
  type SignedRequest,
} from '../../../protocols/http-signature.ts'
import { MINUTE_MS } from '../../../time.ts'
import type { Identity } from '../identity.ts'
import { nameOf } from '../../../abuse/peer-evidence/peer-names.ts'
import { MAX_CLOCK_SKEW_MS } from '../limits.ts'
import { EvidencePage, FollowAnswer, PublicIdentity } from './shapes.ts'

export const PATH = '/api/v1/abuse/federation'
/** The header that names the installation that sends a request. */
export const PEER_HEADER = 'portreeve-peer'

/** The answer of a peer, or why there is none that counts. */
export type Answer<T> =
  | { result: 'answered'; data: T }
  /** Try again later. */
  | { result: 'failed'; problem: string }
  | { result: 'bad_signature' | 'malformed' | 'key_changed' }

export type PeerClient = ReturnType<typeof createPeerClient>
type Peer = { url: string; publicKey: string }

/** Sends signed requests to peers, and verifies their responses. */
export function createPeerClient(identity: Identity, send: GuardedFetch, clock: () => number) {
  async function call<S extends TSchema>(
    peer: Peer,
    method: string,
    path: string,
    schema: S,
  ): Promise<Answer<Static<S>>> {
    const request = { method, url: peer.url + path, headers: { [PEER_HEADER]: identity.url } }
    const headers = await signRequest(identity.key, request, clock())
    const signed: SignedRequest = { ...request, headers }
    const response = await send(request.url, { method, headers }).catch((error: unknown) => error)
    if (!(response instanceof Response)) return { result: 'failed', problem: messageOf(response) }
    const body = await response.text()
    const skew = skewOf(response, clock())
    if (skew !== null) return { result: 'failed', problem: skew }
    const { status } = response
    const received = { status, headers: Object.fromEntries(response.headers), body }
    const { result } = await verifyResponse(received, signed, [peer.publicKey])
    if (result === 'unknown_key') return { result: 'key_changed' }
    if (result === 'invalid') return { result: 'bad_signature' }
    if (result === 'unsigned')
      return { result: 'failed', problem: describeUnsigned(peer, status, body) }
    const content = readEnvelope(body, schema)
    return content === null ? { result: 'malformed' } : { result: 'answered', data: content }
  }

  return {
    /**
     * Fetches the public key of an installation.
     * @throws Fault `upstream_rejected` when it is no Portreeve or is reached elsewhere, and those
     *   of the connection
     */
    async findIdentity(url: string, signal?: AbortSignal): Promise<Static<typeof PublicIdentity>> {
      const headers = { accept: 'application/json' }
      const response = await send(`${url}${PATH}`, { headers, signal })
      const found = readEnvelope(await response.text(), PublicIdentity)
      if (!found || !isPublicKey(found.publicKey))
        throw new Fault('upstream_rejected', `${nameOf(url)} is not a Portreeve with federation.`)
      if (found.url !== url)
        throw new Fault(
          'upstream_rejected',
          `${nameOf(url)} is reached at ${found.url}. Enter that URL.`,
        )
      return { ...found, fingerprint: fingerprintOf(found.publicKey) }
    },
    follow: (peer: Peer) => call(peer, 'POST', `${PATH}/follow`, FollowAnswer),
    pull: (peer: Peer, after: number) =>
      call(peer, 'GET', `${PATH}/evidence?after=${after}`, EvidencePage),
  }
}

/** The data of `{success: true, data}`; null for anything else. */
function readEnvelope<S extends TSchema>(body: string, schema: S): Static<S> | null {
  try {
    const { data } = JSON.parse(body) as { data?: unknown }
    return Value.Check(schema, data) ? data : null
  } catch {
    return null
  }
}

/** Signatures have a time, so that clocks must agree. */
function skewOf(response: Response, now: number): string | null {
  const date = Date.parse(response.headers.get('date') ?? '')
  const skew = Math.abs(now - date)
  return skew > MAX_CLOCK_SKEW_MS
    ? `The clocks differ by ${Math.round(skew / MINUTE_MS)} minutes. Synchronize them (NTP).`
    : null
}

const MAX_SHOWN_CHARS = 200

function describeUnsigned({ url }: Peer, status: number, body: string): string {
  const said = readError(body)
  return said === ''
    ? `${nameOf(url)} answered with status ${status} and without a signature.`
    : `${nameOf(url)} answered with status ${status}: ${said}`
}

function readError(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: unknown }
    return typeof error === 'string' ? error.slice(0, MAX_SHOWN_CHARS) : ''
  } catch {
    return ''
  }
}
