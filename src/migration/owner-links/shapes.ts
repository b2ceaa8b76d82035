import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp, Uuid } from '../../http/http-schema.ts'
import { OWNER_LINK_LIMITS } from './limits.ts'

const Side = Type.Enum(['source', 'destination'])
const RequestFields = {
  side: Side,
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: OWNER_LINK_LIMITS.maxDays,
      description: `For how long the link is valid. Default: ${OWNER_LINK_LIMITS.days}.`,
    }),
  ),
}

export const LinkRequest = Type.Object(RequestFields, { examples: [{ side: 'source' }] })
export type LinkRequest = Static<typeof LinkRequest>

export const BatchLinkRequest = Type.Object(
  {
    ...RequestFields,
    mailboxes: Type.Optional(
      Type.Array(Uuid, {
        minItems: 1,
        maxItems: 1_000,
        uniqueItems: true,
        description: 'Default: all that wait for their owners.',
      }),
    ),
  },
  { examples: [{ side: 'source' }] },
)
export type BatchLinkRequest = Static<typeof BatchLinkRequest>

export const CreatedOwnerLink = Type.Object({
  mailboxId: Nullable(Uuid),
  side: Side,
  user: Type.String(),
  host: Type.String(),
  url: Type.String({
    description:
      'To send to the owner of the mailbox. It is shown once, because only its hash is stored.',
  }),
})
export type CreatedOwnerLink = Static<typeof CreatedOwnerLink>

export const OwnerLink = Type.Object({
  id: Uuid,
  mailboxId: Nullable(Uuid),
  side: Side,
  user: Type.String(),
  host: Type.String(),
  state: Type.Enum(['waiting', 'signed_in', 'withdrawn', 'expired', 'blocked'], {
    description: `\`withdrawn\`: the owner has withdrawn the sign-in; \`blocked\`: ${OWNER_LINK_LIMITS.attempts} passwords were rejected; create another link.`,
  }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  signedInAt: Nullable(Timestamp),
  withdrawnAt: Nullable(Timestamp),
})

nameComponents({
  OwnerLinkRequest: LinkRequest,
  BatchOwnerLinkRequest: BatchLinkRequest,
  CreatedOwnerLink,
  OwnerLink,
})
