import { Type, type Static } from 'typebox'
import { nameComponents, Nullable, Timestamp, Uuid } from '../../http/http-schema.ts'
import { SHOWN_NAME } from '../../http/shown-name.ts'
import {
  LISTED_ATTEMPTS,
  MAX_CONCURRENCY,
  MAX_DESTINATIONS_PER_ENDPOINT,
  MAX_EDITED_BODY_BYTES,
  MAX_EDITED_HEADERS,
  MAX_FIELD_CHARS,
  MAX_PER_MINUTE,
  MAX_PATCH_OPERATIONS,
  MAX_REMOVED_HEADERS,
  MAX_RETRY_SECONDS,
  MAX_SCHEDULE_STEPS,
  MAX_TIMEOUT_SECONDS,
  RATED_DELIVERIES,
} from '../limits.ts'
import { Conditions, ResponseHeaders } from '../rules/shapes.ts'

const SIGNINGS = ['standard', 'standard-ed25519', 'rfc9421', 'none'] as const
export type Signing = (typeof SIGNINGS)[number]
const ORDER_MODES = ['none', 'key', 'strict'] as const
const DELIVERY_STATES = [
  'waiting',
  'sending',
  'delivered',
  'dead',
  'held',
  'dropped',
  'unsendable',
  'cancelled',
] as const
export type DeliveryState = (typeof DELIVERY_STATES)[number]

const Pointer = Type.String({ maxLength: 500 })
const RequestChange = Type.Object({
  method: Type.Optional(Type.Enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])),
  path: Type.Optional(Type.String({ maxLength: 500, pattern: '^(/[!$-;=@-_a-~]*)?$' })),
  removeHeaders: Type.Optional(
    Type.Array(Type.String({ pattern: "^[\\w!#$%&'*+.^`|~-]{1,100}$", maxLength: 100 }), {
      maxItems: MAX_REMOVED_HEADERS,
    }),
  ),
  patch: Type.Optional(
    Type.Array(
      Type.Object({
        op: Type.Enum(['add', 'remove', 'replace', 'move', 'copy', 'test']),
        path: Pointer,
        from: Type.Optional(Pointer),
        value: Type.Optional(Type.Unknown()),
      }),
      { maxItems: MAX_PATCH_OPERATIONS },
    ),
  ),
})
export type RequestChange = Static<typeof RequestChange>

const FIELDS = {
  label: Type.String({ pattern: SHOWN_NAME, maxLength: 100, description: 'A name of your own.' }),
  url: Type.String({
    minLength: 1,
    maxLength: 2_000,
    description:
      'Where requests go; the path and query below the endpoint are added. `http://` only to networks of FORWARD_PRIVATE_TARGETS.',
  }),
  when: Conditions,
  headers: Type.Array(ResponseHeaders.items, {
    maxItems: 20,
    description: 'Headers that are set on each request. Stored encrypted.',
  }),
  sign: Type.Enum([...SIGNINGS], {
    description:
      'How requests are signed: as Standard Webhooks, with HMAC or Ed25519, or as HTTP Message Signatures (RFC 9421) with Ed25519.',
  }),
  order: Type.Object(
    {
      mode: Type.Enum([...ORDER_MODES]),
      key: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: MAX_FIELD_CHARS }))),
    },
    {
      description:
        '`none`; `key`: one at a time for each value of a field such as `body/id`; `strict`: one at a time.',
    },
  ),
  concurrency: Type.Integer({
    minimum: 1,
    maximum: MAX_CONCURRENCY,
    description: 'Requests at once; 5 by default.',
  }),
  perMinute: Nullable(Type.Integer({ minimum: 1, maximum: MAX_PER_MINUTE }), {
    description: 'Requests a minute; null for no limit.',
  }),
  timeoutSeconds: Type.Integer({
    minimum: 1,
    maximum: MAX_TIMEOUT_SECONDS,
    description: 'Seconds for one attempt; 20 by default.',
  }),
  schedule: Nullable(
    Type.Array(Type.Integer({ minimum: 1, maximum: MAX_RETRY_SECONDS }), {
      minItems: 1,
      maxItems: MAX_SCHEDULE_STEPS,
    }),
    {
      description:
        'Seconds before each retry; null for 5 s, 5 min, 30 min, 2, 5, 10, 14, 20, 24 h.',
    },
  ),
  finalStatuses: Type.Array(Type.Integer({ minimum: 400, maximum: 599 }), {
    maxItems: 20,
    description: 'Statuses after which a delivery is not tried again, such as 400 and 422.',
  }),
  change: Nullable(RequestChange, {
    description:
      'What is changed in requests: `method`, `path` below the URL, `removeHeaders`, and `patch`, a JSON Patch (RFC 6902) of the body. Where it does not fit, the delivery is `unsendable`.',
  }),
  skipRepeats: Type.Boolean({
    description: 'Leaves out requests that repeat an earlier one (`repeatOf`). Off by default.',
  }),
}

export const WebhookDestination = Type.Object({
  id: Uuid,
  ...FIELDS,
  state: Type.Enum(['active', 'paused', 'off'], {
    description: '`off`: the service turned it off, for the `reason`.',
  }),
  reason: Nullable(Type.String()),
  publicKey: Nullable(
    Type.String({
      description:
        'Verifies signatures of Ed25519: `whpk_…` for `standard-ed25519`, PEM for `rfc9421`.',
    }),
  ),
  waiting: Type.Integer({ description: 'Deliveries that wait or are being sent.' }),
  held: Type.Integer({ description: 'Deliveries that wait until it is resumed.' }),
  oldestWaitingAt: Nullable(Timestamp, {
    description: 'When the oldest delivery that waits or is held was added.',
  }),
  successRate: Nullable(
    Type.Number({
      description: `The share of its last ${RATED_DELIVERIES} deliveries that arrived, from 0 to 1.`,
    }),
  ),
  accepting: Type.Boolean({
    description: 'False while too many wait: new deliveries are dropped, and can be retried.',
  }),
  failingSince: Nullable(Timestamp),
  lastSuccessAt: Nullable(Timestamp),
  lastError: Nullable(Type.String()),
  nextAttemptAt: Nullable(Timestamp, {
    description: 'While it waits for its receiver: when the next attempt follows.',
  }),
  createdAt: Timestamp,
})
export type WebhookDestination = Static<typeof WebhookDestination>

const optional = {
  label: Type.Optional(FIELDS.label),
  when: Type.Optional(FIELDS.when),
  headers: Type.Optional(FIELDS.headers),
  sign: Type.Optional(FIELDS.sign),
  order: Type.Optional(FIELDS.order),
  concurrency: Type.Optional(FIELDS.concurrency),
  perMinute: Type.Optional(FIELDS.perMinute),
  timeoutSeconds: Type.Optional(FIELDS.timeoutSeconds),
  schedule: Type.Optional(FIELDS.schedule),
  finalStatuses: Type.Optional(FIELDS.finalStatuses),
  change: Type.Optional(FIELDS.change),
  skipRepeats: Type.Optional(FIELDS.skipRepeats),
}
const EXAMPLE = { label: 'shop backend', url: 'https://shop.example.com/hooks' }

export const NewDestination = Type.Object(
  { url: FIELDS.url, ...optional },
  { examples: [{ ...EXAMPLE, when: { 'body/type': 'order.paid' } }] },
)

/** Given settings are changed; omitted ones stay unchanged. */
export const DestinationChange = Type.Object(
  { url: Type.Optional(FIELDS.url), ...optional },
  { examples: [{ concurrency: 2 }] },
)
export type DestinationSettings = Static<typeof DestinationChange>

export const Resumption = Type.Object({
  waiting: Type.Optional(
    Type.Enum(['send', 'drop'], {
      description: 'What happens to deliveries that were held; `send` by default.',
    }),
  ),
})

const SentHeader = Type.Tuple([
  Type.String({ pattern: "^[\\w!#$%&'*+.^`|~-]{1,200}$", maxLength: 200 }),
  Type.String({ pattern: '^[\\t -~\u0080-\u00ff]*$', maxLength: 16_384 }),
])

/** What is sent in place of what was captured. */
const RequestEdit = Type.Object(
  {
    method: Type.Optional(Type.Enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])),
    path: Type.Optional(
      Type.String({
        maxLength: 8_000,
        pattern: '^(/[!$-;=@-_a-~]*)?$',
        description: 'Below the URL of the destination.',
      }),
    ),
    query: Type.Optional(Type.String({ maxLength: 8_000, pattern: '^[!$-;=?-_a-~]*$' })),
    headers: Type.Optional(
      Type.Array(SentHeader, {
        maxItems: MAX_EDITED_HEADERS,
        description: 'In place of all captured headers.',
      }),
    ),
    body: Type.Optional(
      Type.String({
        maxLength: MAX_EDITED_BODY_BYTES * 2,
        description: `Up to ${MAX_EDITED_BODY_BYTES / 1024} KiB.`,
      }),
    ),
    bodyEncoding: Type.Optional(
      Type.Enum(['utf8', 'base64'], { description: '`utf8` by default.' }),
    ),
  },
  { description: 'What is changed in the captured request, which stays as it is.' },
)
export type RequestEdit = Static<typeof RequestEdit>

export const ForwardedRequest = Type.Object({
  requestId: Uuid,
  edit: Type.Optional(RequestEdit),
})

export const ForwardPreview = Type.Object({
  success: Type.Literal(true),
  matches: Type.Boolean({
    description: 'Whether the request meets the conditions of the destination.',
  }),
  error: Nullable(Type.String({ description: 'Why it cannot be sent.' })),
  request: Nullable(
    Type.Object({
      method: Type.String(),
      url: Type.String({ description: 'Where the caller may only read, without its path.' }),
      headers: Type.Array(Type.Tuple([Type.String(), Type.String()]), {
        description: 'Those of the destination and signatures have `…` in place of their value.',
      }),
      body: Type.String(),
      bodyEncoding: Type.Enum(['utf8', 'base64']),
    }),
    { description: 'What would be sent; null where nothing can be.' },
  ),
})

const Delivery = {
  id: Uuid,
  destinationId: Uuid,
  requestId: Uuid,
  state: Type.Enum([...DELIVERY_STATES]),
  edited: Type.Boolean({ description: 'It was edited before it was sent.' }),
  attempts: Type.Integer({ description: 'Attempts that count for the schedule.' }),
  nextAttemptAt: Nullable(Timestamp),
  uncertain: Type.Boolean({
    description: 'An attempt had no answer: the receiver may have the request.',
  }),
  status: Nullable(Type.Integer({ description: 'The last status of the receiver.' })),
  error: Nullable(Type.String()),
  createdAt: Timestamp,
  endedAt: Nullable(Timestamp),
}

export const WebhookDelivery = Type.Object(Delivery)

const ATTEMPT = Type.Object({
  number: Type.Integer(),
  at: Timestamp,
  durationMs: Type.Number({ description: 'Until the answer was read.' }),
  dnsMs: Nullable(Type.Number()),
  connectMs: Nullable(Type.Number({ description: 'Null also where a connection was open.' })),
  tlsMs: Nullable(Type.Number()),
  firstByteMs: Nullable(Type.Number({ description: 'Until the headers of the answer.' })),
  status: Nullable(Type.Integer()),
  kind: Nullable(
    Type.String({
      description:
        'What went wrong: `blocked`, `unreachable`, `timeout`, `unanswered`, `redirect` or `status`.',
    }),
  ),
  error: Nullable(Type.String()),
  address: Nullable(Type.String()),
  answer: Nullable(
    Type.String({ description: 'The first 16 KiB; none from addresses that are not public.' }),
  ),
})

/** The result of a test event, of which nothing is stored. */
export const DestinationTest = Type.Object({
  success: Type.Literal(true),
  attempt: Type.Object({
    delivered: Type.Boolean(),
    ...Type.Omit(ATTEMPT, ['number', 'at']).properties,
  }),
})

export const DeliveryDetails = Type.Object({
  success: Type.Literal(true),
  delivery: WebhookDelivery,
  attempts: Type.Array(ATTEMPT, { description: `The newest ${LISTED_ATTEMPTS}.` }),
})

export const DeliveryQuery = Type.Object({
  destination: Type.Optional(Type.String({ format: 'uuid', description: 'Only this one.' })),
  request: Type.Optional(Type.String({ format: 'uuid', description: 'Only of this request.' })),
  state: Type.Optional(Type.Enum([...DELIVERY_STATES], { description: 'Only in this state.' })),
  limit: Type.Integer({ minimum: 1, maximum: 200, default: 50 }),
  cursor: Type.Optional(
    Type.String({
      maxLength: 16,
      pattern: '^[1-9]\\d{0,15}$',
      description: 'The `nextCursor` of the previous page.',
    }),
  ),
})

export const DeliveryPage = Type.Object({
  success: Type.Literal(true),
  deliveries: Type.Array(WebhookDelivery),
  nextCursor: Nullable(Type.String()),
})

export const AllDestinations = Type.Object({
  success: Type.Literal(true),
  destinations: Type.Array(WebhookDestination, {
    description: `Up to ${MAX_DESTINATIONS_PER_ENDPOINT}.`,
  }),
})
export const OneDestination = Type.Object({
  success: Type.Literal(true),
  destination: WebhookDestination,
})
/** The answer to what makes a secret, which is shown this once. */
export const DestinationWithSecret = Type.Object({
  success: Type.Literal(true),
  destination: WebhookDestination,
  secret: Nullable(
    Type.String({ description: 'Verifies signatures of `standard`. It is shown only now.' }),
  ),
})

const RateOfReplay = Type.Integer({
  minimum: 1,
  maximum: MAX_PER_MINUTE,
  description: 'Requests a minute; 600 by default.',
})
const ReplayFilter = Type.Object(
  {
    since: Type.Optional(
      Type.String({ format: 'date-time', description: 'Received after this time, exclusive.' }),
    ),
    until: Type.Optional(
      Type.String({ format: 'date-time', description: 'Received until this time, inclusive.' }),
    ),
    states: Type.Optional(
      Type.Array(Type.Enum([...DELIVERY_STATES]), {
        minItems: 1,
        maxItems: DELIVERY_STATES.length,
        description:
          'Only requests whose newest delivery to the destination is in one of these states, such as `dead` and `dropped`.',
      }),
    ),
    when: Type.Optional(Conditions),
  },
  { description: 'All requests that are stored, or some of them.' },
)

export const NewReplay = Type.Object(
  {
    destination: Type.String({ format: 'uuid', description: 'Where requests are sent again.' }),
    requests: Type.Optional(
      Type.Array(Uuid, {
        minItems: 1,
        maxItems: 100,
        description: 'The ids of requests, in place of `filter`.',
      }),
    ),
    filter: Type.Optional(ReplayFilter),
    perMinute: Type.Optional(RateOfReplay),
  },
  {
    examples: [
      { destination: '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11', filter: { states: ['dead'] } },
    ],
  },
)
export type GivenReplay = Static<typeof NewReplay>

export const WebhookReplay = Type.Object({
  id: Uuid,
  destinationId: Uuid,
  state: Type.Enum(['running', 'done', 'cancelled']),
  total: Type.Integer({ description: 'Stored requests that are compared with the filter.' }),
  compared: Type.Integer(),
  queued: Type.Integer({ description: 'Deliveries that were added.' }),
  perMinute: RateOfReplay,
  createdAt: Timestamp,
  endedAt: Nullable(Timestamp),
})

nameComponents({
  NewWebhookReplay: NewReplay,
  WebhookReplay,
  WebhookDestination,
  NewWebhookDestination: NewDestination,
  WebhookDestinationChange: DestinationChange,
  WebhookDelivery,
})
