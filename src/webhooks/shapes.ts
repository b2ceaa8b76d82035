import { Type } from 'typebox'
import { Address, nameComponents, Nullable, Timestamp, Uuid } from '../http/schema.ts'
import { SIGNATURE_SCHEMES } from '../protocols/webhook-signature.ts'
import { BODY_KEPT, KEPT, LONGEST_DELAY, REJECTED_KEPT } from './limits.ts'

const EXAMPLE = {
  id: '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11',
  token: 'Ab3dE5fG7h',
  url: 'https://portreeve.example/webhooks/Ab3dE5fG7h',
  label: 'shop orders',
  responseStatus: 200,
  responseBody: '{"ok":true}',
  responseType: 'application/json',
  template: false,
  cors: true,
  timeout: 0,
  requestCount: 12,
  signature: { scheme: 'github' },
  createdAt: '2026-11-21T12:00:00.000Z',
}

const Label = Type.String({ pattern: '^[^\\p{Cc}]*$', maxLength: 100, description: 'What sends to it.' })
const ResponseStatus = Type.Integer({ minimum: 200, maximum: 599, description: 'What callers are answered.' })
const Timeout = Type.Number({
  minimum: 0,
  maximum: LONGEST_DELAY,
  description: `Seconds before the answer, 0 to ${LONGEST_DELAY}; fractions are allowed.`,
  // Milliseconds are what is meant by those who meet the limits.
  'x-sentence': `is in seconds (0-${LONGEST_DELAY})`,
})
const Template = Type.Boolean({
  description:
    'Whether {{body.x}}, {{query.x}}, {{header.x}} and {{hmac_sha256 body.x}} in the response body are filled in.',
})

const SIGNATURE = {
  scheme: Type.Enum([...SIGNATURE_SCHEMES], { description: '`standard` is Standard Webhooks, and Svix.' }),
  header: Type.Optional(
    Type.String({ pattern: "^[\\w!#$%&'*+.^`|~-]{1,100}$", maxLength: 100, description: 'For `hmac`.' }),
  ),
  prefix: Type.Optional(
    Type.String({ pattern: '^[ -~]{0,50}$', maxLength: 50, description: 'For `hmac`: `sha256=` and the like.' }),
  ),
  algorithm: Type.Optional(Type.Enum(['sha1', 'sha256', 'sha512'], { description: 'For `hmac`; sha256 by default.' })),
  encoding: Type.Optional(Type.Enum(['hex', 'base64'], { description: 'For `hmac`; hex by default.' })),
}
const Secret = Type.String({ minLength: 1, maxLength: 500, description: 'Sealed, and never shown again.' })

/** A provider may prescribe the secret; without one, it is generated. */
export const NewResponseSecret = Type.Object({
  secret: Type.Optional(
    Type.String({ minLength: 1, maxLength: 500, description: 'Not the secret that verifies senders.' }),
  ),
})

export const WebhookEndpoint = Type.Object(
  {
    id: Uuid,
    token: Type.String({ description: 'Ten letters and digits that make the URL.' }),
    url: Type.String(),
    label: Type.String(),
    responseStatus: ResponseStatus,
    responseBody: Type.String(),
    responseType: Type.String(),
    template: Template,
    cors: Type.Boolean({ description: 'Whether pages of any origin may send here, preflights included.' }),
    timeout: Timeout,
    requestCount: Type.Integer({ description: 'Captures since the creation or the last clearing.' }),
    signature: Nullable(Type.Object(SIGNATURE)),
    createdAt: Timestamp,
  },
  { examples: [EXAMPLE] },
)

/** What is given is set; the rest stays as it is. */
export const WebhookSettings = Type.Object(
  {
    label: Type.Optional(Label),
    responseStatus: Type.Optional(ResponseStatus),
    responseBody: Type.Optional(Type.String({ maxLength: 65_536, description: 'Up to 64 KiB.' })),
    responseType: Type.Optional(Type.String({ maxLength: 1_000, description: 'A media type.' })),
    template: Type.Optional(Template),
    cors: Type.Optional(Type.Boolean()),
    timeout: Type.Optional(Timeout),
    signature: Type.Optional(
      Nullable(
        Type.Object(
          { ...SIGNATURE, secret: Type.Optional(Secret) },
          { description: 'How its sender signs. Without `secret` the one that is kept stays.' },
        ),
      ),
    ),
  },
  { examples: [{ label: EXAMPLE.label, responseStatus: 202 }] },
)

const Headers = Type.Array(Type.Tuple([Type.String(), Type.String()]), {
  description: 'As received: order, letters and repetitions. One character a byte.',
})

export const WebhookRequest = Type.Object(
  {
    id: Uuid,
    method: Type.String(),
    path: Type.String({ description: 'Below the token, raw; "" when there is none.' }),
    query: Type.String({ description: 'Behind the question mark, raw.' }),
    headers: Headers,
    trailers: Nullable(Headers),
    ip: Type.String(),
    body: Type.String(),
    bodyEncoding: Type.Enum(['utf8', 'base64']),
    bodySize: Type.Integer({ description: 'Bytes received, also when fewer were kept.' }),
    truncated: Type.Boolean({ description: `Only the first ${BODY_KEPT} bytes were kept.` }),
    contentType: Nullable(Type.String()),
    receivedAt: Type.String({ format: 'date-time', description: 'When its last byte had come.' }),
    durationMs: Type.Number({ description: 'From the end of the headers to the last byte.' }),
    httpVersion: Type.String(),
    preflight: Type.Boolean({ description: 'A browser asked whether its page may send.' }),
    aborted: Type.Boolean({ description: 'The sender went away before the end of the body.' }),
    rejected: Nullable(
      Type.String({ description: 'Why it was refused. Of a malformed request the body holds its first bytes, raw.' }),
    ),
    responseStatus: Nullable(
      Type.Integer({ description: 'What it was answered; null when nobody was there any more.' }),
    ),
    surplus: Nullable(
      Type.Object(
        {
          size: Type.Integer({ description: 'Bytes that had arrived when they were noticed.' }),
          start: Type.String({ description: `The first ${REJECTED_KEPT} bytes.` }),
          startEncoding: Type.Enum(['utf8', 'base64']),
          responseStatus: Nullable(
            Type.Integer({
              description:
                'How these bytes were answered, after the request’s own answer; null when the connection ended with that.',
            }),
          ),
        },
        {
          description:
            'Bytes that followed the request on its connection and are not another request: most often the rest of a body ' +
            'whose `Content-Length` is too small or missing. Null: there were none.',
        },
      ),
    ),
  },
  {
    examples: [
      {
        id: '019a9d2e-90aa-7d0c-b1f2-6f0a4c2e7d42',
        method: 'POST',
        path: '/orders',
        query: 'source=shop',
        headers: [
          ['Host', 'portreeve.example'],
          ['Content-Type', 'application/json'],
        ],
        trailers: null,
        ip: '203.0.113.9',
        body: '{"order":1}',
        bodyEncoding: 'utf8',
        bodySize: 11,
        truncated: false,
        contentType: 'application/json',
        receivedAt: '2026-11-21T12:00:00.000Z',
        durationMs: 0.4,
        httpVersion: '1.1',
        preflight: false,
        aborted: false,
        rejected: null,
        responseStatus: 200,
        surplus: null,
      },
    ],
  },
)

const Signature = Nullable(
  Type.Object(
    { status: Type.Enum(['valid', 'invalid', 'unsigned', 'unknown']), reason: Type.String() },
    { description: 'Whether the sender’s signature holds; null when the endpoint has no scheme and secret.' },
  ),
)

/** One of many, as lists and events show it. */
export const ListedRequest = Type.Object({ ...WebhookRequest.properties, signature: Signature })

export const RequestQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 50 }),
  since: Type.Optional(Type.String({ format: 'date-time', description: 'Received after this, strictly.' })),
  until: Type.Optional(Type.String({ format: 'date-time', description: 'Received until then.' })),
  cursor: Type.Optional(
    Type.String({
      maxLength: 16,
      pattern: '^[1-9]\\d{0,15}$',
      description: 'The `nextCursor` of the page before, in the same order.',
    }),
  ),
  order: Type.Enum(['desc', 'asc'], { default: 'desc', description: 'Newest first, or oldest first.' }),
  method: Type.Optional(Type.String({ maxLength: 20 })),
  path: Type.Optional(Type.String({ maxLength: 2_000, description: 'What the path begins with.' })),
  ip: Type.Optional(Type.String(Address)),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'In path, query, header values, or the body’s first 64 KiB.',
    }),
  ),
  format: Type.Enum(['json', 'har'], { default: 'json', description: '`har`: the page as an HTTP Archive 1.2.' }),
})

export const RequestPage = Type.Object(
  {
    success: Type.Literal(true),
    requests: Type.Array(ListedRequest),
    nextCursor: Nullable(
      Type.String({
        description:
          'Where the next page begins. Oldest first there is always one, for whoever asks again later. Null: there is nothing older.',
      }),
    ),
    laterCursor: Nullable(
      Type.String({
        description:
          'The newest of this page: with `order=asc`, the `cursor` for what was captured after it. Null: nothing yet.',
      }),
    ),
    hasMore: Type.Boolean(),
  },
  { description: `At most ${KEPT} requests are kept. A page ends early when its bodies are large.` },
)

export const OneRequest = Type.Object({
  success: Type.Literal(true),
  request: WebhookRequest,
  signature: Signature,
  curl: Nullable(
    Type.String({ description: 'A command that sends it again, safe to paste; null when not all of it was kept.' }),
  ),
})

const NameAndValue = Type.Object({ name: Type.String(), value: Type.String() })

/** HAR 1.2. Names that begin with an underscore are our own. */
export const HttpArchive = Type.Object({
  log: Type.Object({
    version: Type.String(),
    creator: Type.Object({ name: Type.String(), version: Type.String() }),
    entries: Type.Array(
      Type.Object({
        _id: Uuid,
        _rejected: Nullable(Type.String()),
        startedDateTime: Timestamp,
        time: Type.Number(),
        clientIPAddress: Type.String(),
        request: Type.Object({
          method: Type.String(),
          url: Type.String(),
          httpVersion: Type.String(),
          cookies: Type.Array(NameAndValue),
          headers: Type.Array(NameAndValue),
          queryString: Type.Array(NameAndValue),
          postData: Type.Optional(
            Type.Object({
              mimeType: Type.String(),
              params: Type.Array(NameAndValue),
              text: Type.String(),
              _encoding: Type.Optional(Type.Literal('base64')),
              comment: Type.Optional(Type.String()),
            }),
          ),
          headersSize: Type.Integer(),
          bodySize: Type.Integer(),
        }),
        response: Type.Object({
          status: Type.Integer(),
          statusText: Type.String(),
          httpVersion: Type.String(),
          cookies: Type.Array(NameAndValue),
          headers: Type.Array(NameAndValue),
          content: Type.Object({ size: Type.Integer(), mimeType: Type.String() }),
          redirectURL: Type.String(),
          headersSize: Type.Integer(),
          bodySize: Type.Integer(),
        }),
        cache: Type.Object({}),
        timings: Type.Object({ send: Type.Number(), wait: Type.Number(), receive: Type.Number() }),
      }),
    ),
  }),
})

/** The data of the events of an endpoint; `ready`, `skipped` and `deleted` have none. */
export const EndpointEvent = Type.Union([ListedRequest, WebhookEndpoint, Type.Object({})])

nameComponents({
  WebhookEndpoint,
  WebhookSettings,
  WebhookRequest,
  ListedWebhookRequest: ListedRequest,
  WebhookRequestPage: RequestPage,
  HttpArchive,
})
