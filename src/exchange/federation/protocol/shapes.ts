import { Type, type Static } from 'typebox'
import { Timestamp, Uuid } from '../../../http/http-schema.ts'
import { PAGE_ITEMS } from '../limits.ts'

const Position = Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })

export const PublicIdentity = Type.Object({
  url: Type.String({ maxLength: 300, description: 'Where this installation is reached.' }),
  publicKey: Type.String({
    pattern: '^[A-Za-z0-9_-]{43}$',
    maxLength: 43,
    description: 'Ed25519, in base64url.',
  }),
  fingerprint: Type.String({
    pattern: '^[0-9a-f]{64}$',
    maxLength: 64,
    description: 'SHA-256 of the public key.',
  }),
})

export const EvidenceItem = Type.Object({
  kind: Type.Literal('evidence'),
  position: Position,
  id: Uuid,
  ip: Type.String({ maxLength: 45, description: 'The address; of IPv6 the first of its /64.' }),
  service: Type.String({ pattern: '^[a-z0-9][a-z0-9-]{0,59}$', maxLength: 60 }),
  at: { ...Timestamp, maxLength: 30, description: 'The hour of the report.' },
  reporter: Type.String({
    pattern: '^[A-Za-z0-9_-]{1,24}$',
    maxLength: 24,
    description: 'A pseudonym that is valid for this peer and address.',
  }),
})

const WithdrawalItem = Type.Object({
  kind: Type.Literal('withdrawal'),
  position: Position,
  id: { ...Uuid, description: 'The evidence that is withdrawn.' },
})

/** A page of the journal; `ended` tells a caller that this installation does not follow it. */
export const EvidencePage = Type.Object({
  state: Type.Union([Type.Literal('following'), Type.Literal('ended')]),
  items: Type.Array(Type.Union([EvidenceItem, WithdrawalItem]), { maxItems: PAGE_ITEMS }),
  more: Type.Boolean({ description: 'Whether the next page has items already.' }),
  last: Type.Integer({ minimum: 0, description: 'The last position of the journal.' }),
})

export const FollowAnswer = Type.Object({
  state: Type.Union([Type.Literal('following'), Type.Literal('waiting')], {
    description: '`waiting` until an administrator of this installation approves.',
  }),
})

export type EvidenceItem = Static<typeof EvidenceItem>
export type EvidencePage = Static<typeof EvidencePage>
export type FollowAnswer = Static<typeof FollowAnswer>
