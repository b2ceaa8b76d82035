import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp, Uuid } from '../../http/http-schema.ts'
import { DEFAULT_SHARE_DAYS, MAX_SHARE_DAYS, MAX_SHARES_PER_ENDPOINT } from '../limits.ts'

export const NewShare = Type.Object({
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MAX_SHARE_DAYS,
      description: `Days until it expires; ${DEFAULT_SHARE_DAYS} by default.`,
    }),
  ),
  body: Type.Optional(
    Type.Boolean({ description: 'Shows the body, too, as it is. Off by default.' }),
  ),
})
export type GivenShare = Static<typeof NewShare>

export const WebhookShare = Type.Object({
  id: Uuid,
  requestId: Uuid,
  url: Type.String({ description: 'The public link.' }),
  body: Type.Boolean({ description: 'Whether it shows the body, too.' }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
})
export const OneShare = Type.Object({ success: Type.Literal(true), share: WebhookShare })
export const AllShares = Type.Object({
  success: Type.Literal(true),
  shares: Type.Array(WebhookShare, { description: `Up to ${MAX_SHARES_PER_ENDPOINT}.` }),
})

/** What everyone who has the link reads of the request. */
export const SharedRequest = Type.Object({
  method: Type.String(),
  path: Type.String(),
  query: Type.String(),
  headers: Type.Array(Type.Tuple([Type.String(), Type.String()])),
  body: Nullable(Type.String(), { description: 'Null where the link does not show it.' }),
  bodyEncoding: Type.Enum(['utf8', 'base64']),
  bodySize: Type.Integer(),
  truncated: Type.Boolean(),
  contentType: Nullable(Type.String()),
  receivedAt: Timestamp,
  expiresAt: Timestamp,
  redacted: Type.Array(Type.String(), {
    description: 'Names of headers and query fields whose values are hidden.',
  }),
})

nameComponents({ WebhookShare, NewWebhookShare: NewShare, SharedWebhookRequest: SharedRequest })
