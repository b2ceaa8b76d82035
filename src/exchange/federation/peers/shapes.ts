import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp, Uuid } from '../../../http/http-schema.ts'
import { PEER_STATUSES, REFUSALS } from './peer-status.ts'

const Fingerprint = Type.String({
  description: 'SHA-256 of the public key, 64 hexadecimal digits.',
})

export const Peer = Type.Object({
  id: Uuid,
  url: Type.String(),
  name: Type.String({ description: 'The host of the URL.' }),
  status: Type.Enum([...PEER_STATUSES], {
    description:
      '`proposed` and `requested` need an approval here, `waiting` one of the peer; `refused` and `key_changed` a new one.',
  }),
  fingerprint: Fingerprint,
  offeredFingerprint: Nullable(Fingerprint, { description: 'Of the new key, if it changed.' }),
  refusal: Nullable(Type.Enum([...REFUSALS])),
  refusalDetail: Nullable(Type.String()),
  problem: Nullable(Type.String(), { description: 'Why the last contact failed.' }),
  received: Type.Integer({ description: 'Evidence received, without repetitions.' }),
  withdrawn: Type.Integer({ description: 'Of these, withdrawn by the peer.' }),
  ignored: Type.Integer({
    description: 'Evidence that cannot count: protected addresses, unknown services, too old.',
  }),
  sent: Type.Integer({ description: 'Evidence sent to the peer.' }),
  requestedAt: Nullable(Timestamp),
  approvedAt: Nullable(Timestamp),
  lastContactAt: Nullable(Timestamp),
  createdAt: Timestamp,
})

export const PeerList = Type.Object({
  own: Type.Object({ url: Type.String(), name: Type.String(), fingerprint: Fingerprint }),
  peers: Type.Array(Peer),
})

export const NewPeer = Type.Object({
  url: Type.String({
    minLength: 1,
    maxLength: 300,
    description: 'Where its attack-reporting endpoints are reached.',
    examples: ['https://reports.example.net'],
  }),
})

export const PeerApproval = Type.Object({
  fingerprint: Type.String({
    minLength: 64,
    maxLength: 120,
    description: 'The fingerprint that you compared; spaces and colons are ignored.',
    examples: ['6a9bd7ed924bd169752727b85ede4c2e669026c6794e1c49d66b9ba94abbcb73'],
  }),
})

nameComponents({ Peer, PeerList })

export type Peer = Static<typeof Peer>
export type PeerList = Static<typeof PeerList>
