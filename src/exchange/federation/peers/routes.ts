import { Type } from 'typebox'
import { Done, responses, Success, Uuid } from '../../../http/http-schema.ts'
import type { App } from '../../../http/http-server.ts'
import type { Federation } from '../federation.ts'
import { addPeer, approvePeer, endPeer, readPeers } from './peers.ts'
import { NewPeer, Peer, PeerApproval, PeerList } from './shapes.ts'

const BASE = '/api/v1/abuse/peers'
const common = { description: 'For administrators.' }
const params = Type.Object({ id: Uuid })

/** `/api/v1/abuse/peers…`: the installations that evidence is exchanged with. */
export function peerRoutes(app: App, federation: Federation): void {
  app.get(
    BASE,
    {
      schema: {
        summary: 'List the peers of this installation, with its own fingerprint',
        ...common,
        response: responses(Success(PeerList)),
      },
    },
    async () => ({ success: true, data: await readPeers(federation) }),
  )
  app.post(
    BASE,
    {
      schema: {
        summary: 'Add an installation as a peer',
        ...common,
        description: 'For administrators. Nothing is exchanged before both sides approve.',
        body: NewPeer,
        response: responses(Success(Peer), 201),
      },
    },
    async ({ body }, reply) =>
      reply.code(201).send({ success: true, data: await addPeer(federation, body.url) }),
  )
  app.post(
    `${BASE}/:id/approve`,
    {
      schema: {
        summary: 'Approve a peer by its fingerprint',
        ...common,
        description:
          'For administrators. Also for a peer that was refused, and for one with a new key.',
        params,
        body: PeerApproval,
        response: responses(Success(Peer)),
      },
    },
    async ({ params: { id }, body }) => ({
      success: true,
      data: await approvePeer(federation, id, body.fingerprint),
    }),
  )
  app.delete(
    `${BASE}/:id`,
    {
      schema: {
        summary: 'End a peering and delete the evidence of the peer',
        ...common,
        description: 'For administrators. Declines a request; the second time it is forgotten.',
        params,
        response: responses(Done),
      },
    },
    async ({ params: { id } }) => {
      await endPeer(federation, id)
      return { success: true }
    },
  )
}
