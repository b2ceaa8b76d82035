import type { FastifyReply } from 'fastify'
import { Type } from 'typebox'
import { Fault } from '../../../errors.ts'
import { responses, Success } from '../../../http/http-schema.ts'
import type { App } from '../../../http/http-server.ts'
import { signResponse, type SignedRequest } from '../../../protocols/http-signature.ts'
import { MINUTE_MS } from '../../../time.ts'
import { countSourceRequest } from '../../../abuse/intake/intake.sql.ts'
import type { Federation } from '../federation.ts'
import { REQUESTS_PER_MINUTE } from '../limits.ts'
import { readPeerUrl } from '../peers/peers.ts'
import { isServed } from '../peers/peer-status.ts'
import { findPeerByUrl, type PeerRow } from '../peers/peers.sql.ts'
import { requireFresh, signedRequestOf, verifyPeerRequest } from './authenticate.ts'
import { PATH, PEER_HEADER } from './client.ts'
import { acceptFollow } from './follow.ts'
import { ENDED, readPage } from './evidence-pages.ts'
import { EvidencePage, FollowAnswer, PublicIdentity } from './shapes.ts'

const SignedHeaders = Type.Object({
  [PEER_HEADER]: Type.String({ maxLength: 300, description: 'The URL of the peer.' }),
  signature: Type.String({ maxLength: 1_000, description: 'RFC 9421, by Ed25519.' }),
  'signature-input': Type.String({ maxLength: 1_000 }),
})

/** `/api/v1/abuse/federation…`: what peers ask. All but the identity is signed, in both directions. */
export function federationRoutes(app: App, federation: Federation): void {
  identityRoute(app, federation)
  followRoute(app, federation)
  evidenceRoute(app, federation)
}

function identityRoute(app: App, { identity: { url, key } }: Federation): void {
  const { publicKey, fingerprint } = key
  app.get(
    PATH,
    {
      config: { limit: 'public pages' },
      schema: {
        operationId: 'getFederationIdentity',
        summary: 'Get the URL and public key of this installation',
        response: responses(Success(PublicIdentity)),
      },
    },
    async () => ({ success: true, data: { url, publicKey, fingerprint } }),
  )
}

function followRoute(app: App, federation: Federation): void {
  app.post(
    `${PATH}/follow`,
    {
      config: { limit: 'follow requests' },
      compress: false,
      schema: {
        operationId: 'followInstallation',
        summary: 'Ask this installation to exchange evidence',
        description: 'Signed by the peer. An administrator of this installation decides.',
        headers: SignedHeaders,
        response: responses(Success(FollowAnswer)),
      },
    },
    async (request, reply) => {
      const signed = signedRequestOf(request, federation.identity)
      const url = readPeerUrl(request.headers[PEER_HEADER])
      return sendSigned(reply, federation, signed, await acceptFollow(federation, url, signed))
    },
  )
}

function evidenceRoute(app: App, federation: Federation): void {
  app.get(
    `${PATH}/evidence`,
    {
      config: { limit: 'federation requests' },
      // The digest that is signed is that of the bytes which are sent.
      compress: false,
      schema: {
        operationId: 'readFederationEvidence',
        summary: 'Read evidence as a peer, from a position',
        description:
          'Signed by the peer. The state is `ended` for installations that are no peers.',
        headers: SignedHeaders,
        querystring: Type.Object({
          after: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 }),
        }),
        response: responses(Success(EvidencePage)),
      },
    },
    async (request, reply) => {
      const signed = signedRequestOf(request, federation.identity)
      const peer = await findPeerByUrl(federation.db, readPeerUrl(request.headers[PEER_HEADER]))
      // Told to anyone, because the key of a peer is forgotten with it.
      if (!peer || !isServed(peer)) return sendSigned(reply, federation, signed, ENDED)
      await authenticate(federation, peer, signed)
      const page = await readPage(federation, peer, request.query.after)
      return sendSigned(reply, federation, signed, page)
    },
  )
}

async function authenticate(
  { db, clock }: Federation,
  peer: PeerRow,
  signed: SignedRequest,
): Promise<void> {
  const now = clock()
  await requireFresh(db, await verifyPeerRequest(signed, [peer.publicKey]), now)
  const times = { now: new Date(now), windowStart: new Date(now - MINUTE_MS) }
  if ((await countSourceRequest(db, `peer ${peer.id}`, times)) > REQUESTS_PER_MINUTE)
    throw new Fault('rate_limited', `The limit is ${REQUESTS_PER_MINUTE} requests a minute.`, {
      retryAfter: 60,
    })
}

/** Signs the bytes that are sent, so they are serialized here. */
async function sendSigned(
  reply: FastifyReply,
  { identity, clock }: Federation,
  request: SignedRequest,
  data: EvidencePage | FollowAnswer,
): Promise<FastifyReply> {
  const body = JSON.stringify({ success: true, data })
  const headers = await signResponse(identity.key, { status: 200, body }, request, clock())
  return reply.headers(headers).type('application/json').send(body)
}
