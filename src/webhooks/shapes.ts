import { Type } from 'typebox'
import { Labels } from '../http/labels.ts'
import { IpAddress, nameComponents, Nullable, Timestamp, Uuid } from '../http/http-schema.ts'
import { SHOWN_NAME } from '../http/shown-name.ts'
import { SIGNATURE_SCHEMES } from '../protocols/webhook-signature.ts'
import { REPEAT_HEADERS } from './requests/repeat-headers.ts'
import { AnsweredBy, ResponseHeaders } from './rules/shapes.ts'
import {
  MAX_STORED_BODY_BYTES,
  REQUESTS_PER_ENDPOINT,
  MAX_ALERT_MINUTES,
  MAX_DELAY_SECONDS,
  MAX_FIELD_CHARS,
  MAX_MALFORMED_BYTES,
  MAX_NAME_CHARS,
  MIN_CALLED_MINUTES,
  MIN_NAME_CHARS,
  MIN_SILENT_MINUTES,
  REPEAT_HOURS,
} from './limits.ts'

const EXAMPLE = {
  id: '019a9d2e-7c3b-7f7e-8a51-3c1d9f0b6a11',
  token: 'Ab3dE5fG7h',
  name: 'shop-orders',
  url: 'https://portreeve.example/webhooks/Ab3dE5fG7h',
  namedUrl: 'https://portreeve.example/webhooks/shop-orders',
  receivesEmail: false,
  emailAddress: null,
  label: 'shop orders',
  labels: ['production'],
  responseStatus: 200,
  responseBody: '{"ok":true}',
  responseType: 'application/json',
  responseHeaders: [['Retry-After', '5']] as [string, string][],
  template: false,
  cors: true,
  timeout: 0,
  repeatKey: null,
  requestCount: 12,
  signature: { scheme: 'github' },
  alerts: { calledEveryMinutes: null, badSignature: true, silentAfterMinutes: 1_440 },
  createdAt: '2026-11-21T12:00:00.000Z',
}

const RepeatKey = Nullable(Type.String({ minLength: 1, maxLength: MAX_FIELD_CHARS }), {
  description: `A field such as \`body/id\` by which repeated requests are recognized. Null for ${REPEAT_HEADERS.map((name) => `\`${name}\``).join(', ')}.`,
})

const ReceivesEmail = Type.Boolean({
  description:
    'Whether it has an address for mail, too; off by default. Off and on again makes a new address. Needs SMTP_LISTEN.',
})

const Label = Type.String({
  pattern: SHOWN_NAME,
  maxLength: 100,
  description: 'A name, for example of the sender.',
})
const ResponseStatus = Type.Integer({
  minimum: 200,
  maximum: 599,
  description: 'The status of the response, 200 to 599; 200 by default.',
})
const Timeout = Type.Number({
  minimum: 0,
  maximum: MAX_DELAY_SECONDS,
  description: `Seconds before the response, 0 to ${MAX_DELAY_SECONDS}; fractions are allowed. The request is in the list at once.`,
  // Users who exceed the limit usually mean milliseconds.
  'x-sentence': `is in seconds (0-${MAX_DELAY_SECONDS})`,
})
const Template = Type.Boolean({
  description:
    'Replaces {{body.x}}, {{query.x}}, {{header.x}} and {{hmac_sha256 body.x}} in the response body.',
})

const Cors = Type.Boolean({
  description:
    'Allows web pages of any origin to send requests and read the responses; preflights get 204. On by default.',
})

const SIGNATURE = {
  scheme: Type.Enum([...SIGNATURE_SCHEMES], {
    description: '`standard` is Standard Webhooks, also used by Svix.',
  }),
  header: Type.Optional(
    Type.String({
      pattern: "^[\\w!#$%&'*+.^`|~-]{1,100}$",
      maxLength: 100,
      description: 'For `hmac`.',
    }),
  ),
  prefix: Type.Optional(
    Type.String({
      pattern: '^[ -~]{0,50}$',
      maxLength: 50,
      description: 'For `hmac`, for example `sha256=`.',
    }),
  ),
  algorithm: Type.Optional(
    Type.Enum(['sha1', 'sha256', 'sha512'], { description: 'For `hmac`; sha256 by default.' }),
  ),
  encoding: Type.Optional(
    Type.Enum(['hex', 'base64'], { description: 'For `hmac`; hex by default.' }),
  ),
}
const Secret = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'Stored encrypted, and never shown again.',
})

const CalledEveryMinutes = Nullable(
  Type.Integer({ minimum: MIN_CALLED_MINUTES, maximum: MAX_ALERT_MINUTES }),
  {
    description:
      'Minutes between two alerts `webhook.called`, each with the number of requests since the last one; null for none.',
  },
)
const BadSignature = Type.Boolean({
  description:
    'Whether requests without a valid signature raise an alert, at most once an hour. Requires `signature`.',
})
const SilentAfterMinutes = Nullable(
  Type.Integer({ minimum: MIN_SILENT_MINUTES, maximum: MAX_ALERT_MINUTES }),
  {
    description:
      'Minutes without a request after which `webhook.silent` is raised, not before the first request; null for never.',
  },
)

const WebhookAlerts = Type.Object({
  calledEveryMinutes: CalledEveryMinutes,
  badSignature: BadSignature,
  silentAfterMinutes: SilentAfterMinutes,
})

/** A provider may prescribe the secret; without one, it is generated. */
export const NewResponseSecret = Type.Object({
  secret: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: 'Not the secret that verifies senders.',
    }),
  ),
})

export const WebhookEndpoint = Type.Object(
  {
    id: Uuid,
    token: Type.String({ description: 'Ten letters and digits, part of the URL.' }),
    name: Nullable(Type.String()),
    url: Type.String(),
    namedUrl: Nullable(
      Type.String({ description: 'The URL with the chosen name. The one with the token stays.' }),
    ),
    receivesEmail: ReceivesEmail,
    emailAddress: Nullable(
      Type.String({ description: 'Each mail to it is captured as a request `EMAIL`.' }),
    ),
    label: Type.String(),
    labels: Labels,
    responseStatus: ResponseStatus,
    responseBody: Type.String(),
    responseType: Type.String(),
    responseHeaders: ResponseHeaders,
    template: Template,
    cors: Cors,
    timeout: Timeout,
    repeatKey: RepeatKey,
    requestCount: Type.Integer({
      description: 'Requests since the endpoint was created or its requests were deleted.',
    }),
    signature: Nullable(Type.Object(SIGNATURE)),
    alerts: WebhookAlerts,
    createdAt: Timestamp,
  },
  { examples: [EXAMPLE] },
)

const Name = Type.String({
  maxLength: 100,
  description: `A name for the URL, ${MIN_NAME_CHARS} to ${MAX_NAME_CHARS} lower-case letters, digits and hyphens. It can be guessed.`,
})

const SETTINGS = {
  receivesEmail: Type.Optional(ReceivesEmail),
  label: Type.Optional(Label),
  labels: Type.Optional(Labels),
  responseStatus: Type.Optional(ResponseStatus),
  responseBody: Type.Optional(
    Type.String({ maxLength: 65_536, description: 'Up to 64 KiB; empty by default.' }),
  ),
  responseType: Type.Optional(
    Type.String({
      maxLength: 1_000,
      description: 'A media type; `text/plain; charset=utf-8` by default.',
    }),
  ),
  responseHeaders: Type.Optional(ResponseHeaders),
  template: Type.Optional(Template),
  cors: Type.Optional(Cors),
  timeout: Type.Optional(Timeout),
  repeatKey: Type.Optional(RepeatKey),
  signature: Type.Optional(
    Nullable(
      Type.Object(
        { ...SIGNATURE, secret: Type.Optional(Secret) },
        { description: 'How the sender signs. Without `secret`, the stored one is kept.' },
      ),
    ),
  ),
  alerts: Type.Optional(
    Type.Object(
      {
        calledEveryMinutes: Type.Optional(CalledEveryMinutes),
        badSignature: Type.Optional(BadSignature),
        silentAfterMinutes: Type.Optional(SilentAfterMinutes),
      },
      { description: 'The alerts that the endpoint raises; none by default.' },
    ),
  ),
}

/** Given settings are changed; omitted ones stay unchanged. */
export const WebhookSettings = Type.Object(
  { name: Type.Optional(Nullable(Name)), ...SETTINGS },
  { examples: [{ label: EXAMPLE.label, responseStatus: 202 }] },
)

/** The settings of the endpoint with a name, which the path has. */
export const NamedWebhookSettings = Type.Object(SETTINGS, {
  examples: [{ label: EXAMPLE.label, responseStatus: 202 }],
})

export const NameParams = Type.Object({ name: Name })

const Headers = Type.Array(Type.Tuple([Type.String(), Type.String()]), {
  description: 'As received: order, case and repetitions. One character per byte.',
})

export const WebhookRequest = Type.Object(
  {
    id: Uuid,
    method: Type.String(),
    path: Type.String({
      description:
        'The raw path below the token: `a%2Fb` and `//a//` stay unchanged. Empty if there is none.',
    }),
    query: Type.String({ description: 'The raw query string, without the question mark.' }),
    headers: Headers,
    trailers: Nullable(Headers),
    ip: Type.String({
      description: 'The sender. Forwarding headers count only from TRUSTED_PROXIES.',
    }),
    body: Type.String({
      description:
        'Text if the bytes are text, otherwise base64 (`bodyEncoding`). A body in gzip is stored in gzip.',
    }),
    bodyEncoding: Type.Enum(['utf8', 'base64']),
    bodySize: Type.Integer({
      description: 'Bytes received, even if fewer are stored (`truncated`).',
    }),
    truncated: Type.Boolean({
      description: `Only the first ${MAX_STORED_BODY_BYTES} bytes are stored.`,
    }),
    contentType: Nullable(Type.String()),
    receivedAt: Type.String({ format: 'date-time', description: 'When the last byte arrived.' }),
    durationMs: Type.Number({ description: 'From the end of the headers to the last byte.' }),
    httpVersion: Type.String(),
    preflight: Type.Boolean({ description: 'A CORS preflight of a browser.' }),
    aborted: Type.Boolean({ description: 'The sender disconnected before the end of the body.' }),
    rejected: Nullable(Type.String(), {
      description:
        'Why the request was rejected. The body of a malformed request contains its first bytes, raw.',
    }),
    responseStatus: Nullable(
      Type.Integer({
        description:
          'The status of the response; null if the sender had disconnected, or a rule sent none.',
      }),
    ),
    surplus: Nullable(
      Type.Object(
        {
          size: Type.Integer({ description: 'Bytes that had arrived when they were detected.' }),
          start: Type.String({ description: `The first ${MAX_MALFORMED_BYTES} bytes.` }),
          startEncoding: Type.Enum(['utf8', 'base64']),
          responseStatus: Nullable(
            Type.Integer({
              description:
                'The status of a second response to these bytes; null if the connection ended with the first.',
            }),
          ),
        },
        {
          description:
            'Bytes after the request on its connection that are not another request: usually the rest of a body ' +
            'whose `Content-Length` is too small or missing. Null if there were none.',
        },
      ),
    ),
    answeredBy: AnsweredBy,
    repeatOf: Nullable(Uuid, {
      description: `The earlier request of the last ${REPEAT_HOURS} hours with the same key; null for none.`,
    }),
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
        answeredBy: null,
        repeatOf: null,
      },
    ],
  },
)

const Signature = Nullable(
  Type.Object(
    { status: Type.Enum(['valid', 'invalid', 'unsigned', 'unknown']), reason: Type.String() },
    {
      description:
        'The result of verifying the signature; null if the endpoint has no scheme and secret.',
    },
  ),
)

/** A request as lists and events contain it. */
export const ListedRequest = Type.Object({ ...WebhookRequest.properties, signature: Signature })

export const RequestQuery = Type.Object({
  limit: Type.Integer({
    minimum: 1,
    maximum: 500,
    default: 50,
    description: 'A page has up to 2 MiB of bodies, a HAR export up to 8 MiB.',
  }),
  since: Type.Optional(
    Type.String({
      format: 'date-time',
      description: 'Received after this time, exclusive. With a time zone.',
    }),
  ),
  until: Type.Optional(
    Type.String({ format: 'date-time', description: 'Received until this time, inclusive.' }),
  ),
  cursor: Type.Optional(
    Type.String({
      maxLength: 16,
      pattern: '^[1-9]\\d{0,15}$',
      description: 'The `nextCursor` of the previous page, in the same order.',
    }),
  ),
  order: Type.Enum(['desc', 'asc'], {
    default: 'desc',
    description: 'Newest first, or oldest first.',
  }),
  method: Type.Optional(Type.String({ maxLength: 20, description: 'Only this method.' })),
  path: Type.Optional(Type.String({ maxLength: 2_000, description: 'A prefix of the path.' })),
  ip: Type.Optional(Type.String({ ...IpAddress, description: 'Only this sender.' })),
  q: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 200,
      description:
        'Searches the path, query, header values, and the first 64 KiB of the body; ignores case.',
    }),
  ),
  format: Type.Enum(['json', 'har'], {
    default: 'json',
    description: '`har`: the page as an HTTP Archive 1.2.',
  }),
})

export const RequestPage = Type.Object(
  {
    success: Type.Literal(true),
    requests: Type.Array(ListedRequest),
    nextCursor: Nullable(
      Type.String({
        description:
          'Start of the next page. Null if there are no older requests; never null with `order=asc`, so that a client can poll.',
      }),
    ),
    laterCursor: Nullable(
      Type.String({
        description:
          'The newest request of this page: with `order=asc`, the `cursor` for later requests. Null if there are none yet.',
      }),
    ),
    hasMore: Type.Boolean(),
  },
  {
    description: `Up to ${REQUESTS_PER_ENDPOINT} requests are stored. A page ends early when its bodies are large.`,
  },
)

export const OneRequest = Type.Object({
  success: Type.Literal(true),
  request: WebhookRequest,
  signature: Signature,
  answer: Nullable(
    Type.Object({
      status: Type.Integer(),
      headers: Headers,
      body: Type.String(),
      bodyEncoding: Type.Enum(['utf8', 'base64']),
      sent: Type.Boolean({ description: 'Whether the sender got it; false for a late answer.' }),
      at: Timestamp,
    }),
    { description: 'The answer of a listener; null for none.' },
  ),
  curl: Nullable(
    Type.String({
      description:
        'A command that sends the request again, safe to paste; null if the body is truncated.',
    }),
  ),
})

const NameAndValue = Type.Object({ name: Type.String(), value: Type.String() })

/** HAR 1.2. Names that begin with an underscore are additions of Portreeve. */
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
        _clientIPAddress: Type.String(),
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
  WebhookAlerts,
  WebhookEndpoint,
  WebhookSettings,
  NamedWebhookSettings,
  WebhookRequest,
  ListedWebhookRequest: ListedRequest,
  WebhookRequestPage: RequestPage,
  HttpArchive,
})
