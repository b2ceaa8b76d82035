import { counted, numberText } from '../ui/text/format.ts'
import type { Limit } from './overview/limits.ts'

/** Texts of the API reference. Texts of operations come from the OpenAPI document. */
export const frame = {
  title: 'API reference',
  documentTitle: (title?: string) =>
    title === undefined ? 'Portreeve API reference' : `${title} · Portreeve API`,
  dashboard: 'Dashboard',
  skip: 'Skip to content',
  browse: 'Browse',
  browseTitle: 'Operations',
  close: 'Close',
  navigation: 'Operations',
  version: (version: string) => `Portreeve ${version}`,
  document: 'openapi.json',
  previous: 'Previous',
  next: 'Next',
  pager: 'Neighbouring operations',
} as const

export const theme = { label: 'Theme', light: 'Light', dark: 'Dark', auto: 'System' } as const

export const search = {
  label: 'Search operations',
  placeholder: 'Search operations',
  results: (count: number) => (count === 0 ? 'No operations found' : counted(count, 'operation')),
  noResults: (text: string) => `No operation matches “${text}”.`,
  hint: 'Try a path, a method or a noun such as `domain`.',
} as const

export const loading = {
  text: 'Loading the operations…',
  failed: 'Couldn’t load /openapi.json. Check your connection and try again.',
  retry: 'Try again',
  unknownTitle: 'Operation not found',
  unknown: (id: string) =>
    `This version of Portreeve has no operation \`${id}\`. Search for it, or start from the overview.`,
  overview: 'Go to the overview',
} as const

export const copy = { copy: 'Copy', copied: 'Copied', announcement: 'Copied.' } as const

export const overview = {
  lead: 'Everything the dashboard does is available over HTTP and JSON. Every request on this page can be copied, or sent from here.',
  start: 'First request',
  startBefore: 'Create a token under',
  tokens: 'API tokens',
  startAfter:
    'in the dashboard, or with `portreeve token create`. Put it into the environment, then send a request:',
  startCommand: (baseUrl: string) =>
    `export PORTREEVE_TOKEN=prv_…\ncurl -H "Authorization: Bearer $PORTREEVE_TOKEN" \\\n  "${baseUrl}/api/v1/dns-check?domain=example.com"`,
  baseUrl: 'Base URL',
  authentication: 'Authentication',
  authenticationText: [
    'Send an API token as `Authorization: Bearer prv_…`, or sign in and send the session cookie.',
  ],
  authenticationPoints: [
    'A token is shown once, when it is created. It cannot create other tokens.',
    'The samples on this page read the token from `PORTREEVE_TOKEN`, and the cookie of a session, as `name=value`, from `PORTREEVE_COOKIE`.',
    'A request that changes data with a cookie must come from the origin of the service, or from a program, which sends no origin.',
    'Actions on accounts need a session with a recent sign-in. Otherwise they return 403 with the code `reauthenticate`.',
    'Requests without a valid token or session get 401 before any other validation.',
  ],
  conventions: 'Requests and responses',
  conventionPoints: [
    'Success is `{"success": true, "data": …}`. A failure has `success: false`, a message for people and a stable code for programs.',
    'JSON bodies are not converted: `"993"` is not a port. Query strings are converted to numbers where a number is expected.',
    'Unknown fields are ignored, and responses may gain fields.',
    'Times are ISO 8601 in UTC with milliseconds. IDs are UUIDs.',
    'Host names are accepted as Unicode or A-labels, in any case.',
    'Every response has `X-Request-Id`, under which the log of the service has the request.',
  ],
  errors: 'Errors',
  errorsText: 'A failure names the invalid fields in `details`:',
  errorExample: 'A failure',
  limits: 'Rate limits',
  limitsText:
    'A request beyond a limit gets 429 with the code `rate_limited`. `Retry-After` has the seconds until the next request is accepted. Limits refill evenly.',
  limitsOff: 'Administrators can turn these limits off with `REQUEST_LIMITS=off`.',
  accountLimits: 'Limits of a workspace',
  addressLimits: 'Limits of an address',
  addressNote: 'On public routes. An IPv6 address counts as its /64.',
  limitColumns: ['Requests', 'Rate', 'At once'],
  noRate: '–',
  streams: 'Event streams',
  streamsText:
    'Operations that return `text/event-stream` send server-sent events until you close the connection. Reconnect when a stream ends; `Last-Event-ID` resumes where an operation accepts it.',
  clients: 'Generated clients',
  clientsText:
    'The document is OpenAPI 3.1 and names every operation, so that any client generator can read it.',
  clientsCommand: (baseUrl: string) =>
    `curl -o openapi.json "${baseUrl}/openapi.json"\nnpx openapi-typescript openapi.json -o portreeve.ts`,
  shell: 'Shell',
  operations: 'All operations',
} as const

/** Meaning of each error code, with its statuses. docs/error-codes.md is written from them. */
export const ERRORS: { status: string; code: string; text: string }[] = [
  {
    status: '400',
    code: 'invalid_request',
    text: 'Malformed, missing, of the wrong type or out of range. `details` names every field.',
  },
  { status: '401', code: 'unauthenticated', text: 'No token or session, or an invalid one.' },
  { status: '403', code: 'forbidden', text: 'The account is not allowed to do this.' },
  { status: '403', code: 'target_not_allowed', text: 'The target is not a public address.' },
  { status: '403', code: 'demo', text: 'A demo changes nothing and connects to no other host.' },
  {
    status: '403',
    code: 'not_a_member',
    text: 'Not a member of this workspace, or the workspace was deleted.',
  },
  { status: '403', code: 'reauthenticate', text: 'Confirm the sign-in first.' },
  { status: '403', code: 'two_factor_required', text: 'Set up a second factor first.' },
  { status: '404', code: 'not_found', text: 'Not found, or owned by another account.' },
  { status: '405', code: 'method_not_allowed', text: '`Allow` lists the methods.' },
  { status: '409', code: 'conflict', text: 'Already exists, or not possible in this state.' },
  { status: '413', code: 'too_large', text: 'The body is larger than the route accepts.' },
  { status: '415', code: 'unsupported_media_type', text: 'The body has another content type.' },
  {
    status: '422',
    code: 'upstream_rejected',
    text: 'The other server was reached and rejected the request.',
  },
  { status: '429', code: 'rate_limited', text: '`Retry-After` has the seconds to wait.' },
  { status: '429', code: 'monthly_limit', text: 'The plan allows no more this month.' },
  { status: '500', code: 'internal', text: 'A defect in Portreeve. The log has the request.' },
  {
    status: '502',
    code: 'upstream_unreachable',
    text: 'Connection refused, host not found, or the handshake failed.',
  },
  {
    status: '503',
    code: 'unavailable',
    text: 'The database is unavailable, or the service is stopping. `Retry-After` has the seconds to wait.',
  },
  { status: '504', code: 'upstream_timeout', text: 'The other server was too slow.' },
]

export const ERROR_EXAMPLE = {
  success: false,
  error: 'The request is not valid: source.host is required.',
  code: 'invalid_request',
  details: [{ path: 'source.host', message: 'is required' }],
}

export const operation = {
  copyLink: 'Copy link',
  link: (name: string) => `Link to ${name}`,
  access: {
    public: { word: 'Public', text: 'Needs no account.' },
    token: { word: 'Token', text: 'Needs an API token or a session.' },
    session: { word: 'Session', text: 'Needs a signed-in session; API tokens get 403.' },
  },
  pathParameters: 'Path parameters',
  queryParameters: 'Query parameters',
  headerParameters: 'Headers',
  body: 'Request body',
  anyType: 'any content type',
  response: 'Response',
  responses: 'Responses',
  errorsBefore: 'Failures have a status, a message and a stable code:',
  errorsLink: 'all error codes',
  limits: 'Rate limits',
  limit: { account: 'per account', address: 'per address' },
  limitText: ({ name, requests, per = '', atOnce }: Limit) => {
    const some = atOnce === undefined ? '' : numberText(atOnce)
    if (requests === undefined) return `${some} ${name} at once`
    return `${numberText(requests)} ${name} ${per}${some === '' ? '' : `, ${some} at once`}`
  },
  required: (unless: string[] = []) =>
    unless.length === 0 ? 'required' : `required without ${unless.join(' or ')}`,
  optional: 'optional',
  values: 'Allowed values',
  default: 'Default',
  below: (name: string) => `of ${name}`,
  fields: (count: number) => counted(count, 'field'),
  options: (count: number) => counted(count, 'alternative'),
  moreValues: (count: number) => `Show ${numberText(count)} more`,
  anyKey: 'any key',
  emptyBody: 'No body.',
  sampleLanguage: 'Language',
  sample: (language: string) => `${language} request`,
  responseExample: 'Example response',
  tokenHint: 'Reads the token from `PORTREEVE_TOKEN`.',
  cookieHint: 'Reads the session cookie from `PORTREEVE_COOKIE`.',
  constraint: {
    value: rangeText(''),
    length: rangeText(' characters'),
    items: rangeText(' items'),
  },
} as const

/** `1 to 100`, `at least 1 item`, `up to 60 characters`. */
function rangeText(unit: string): (least?: number, most?: number) => string {
  return (least, most) => {
    const one = (value: number) =>
      `${numberText(value)}${value === 1 ? unit.replace(/s$/, '') : unit}`
    if (most === undefined) return `at least ${one(least ?? 0)}`
    if (least === undefined || (least === 0 && unit !== '')) return `up to ${one(most)}`
    if (least === most) return unit === '' ? numberText(most) : `exactly ${one(most)}`
    return `${numberText(least)} to ${one(most)}`
  }
}

export const trial = {
  title: 'Send this request',
  token: 'API token',
  tokenHint: 'Kept in this tab until you reload. Without one, your dashboard session is used.',
  body: 'Body',
  file: 'File',
  wrongJson: 'The body is not valid JSON.',
  missing: (name: string) => `Fill in ${name}.`,
  send: (method: string) => `Send ${method} request`,
  sending: 'Waiting for the response…',
  stop: 'Stop',
  failed: 'The service could not be reached. Check your connection and try again.',
  result: 'Response',
  status: (status: number, milliseconds: number, size: string) =>
    `${status} · ${numberText(milliseconds)} ms · ${size}`,
  empty: 'The response has no body.',
  binary: (size: string) => `${size} of binary data.`,
  truncated: (size: string) => `The first ${size} are shown.`,
} as const
