import { counted, durationText, numberText } from '../ui/text/format.ts'

export const endpoints = {
  title: 'Webhooks',
  lead: 'An endpoint is a public URL that stores every request byte for byte and responds as you configure.',
  loading: 'Loading endpoints…',
  yours: 'Your endpoints',
  storage: 'the oldest requests are deleted first',
  name: 'Name (optional)',
  nameHint: 'For example the sender.',
  nameExample: 'shop orders',
  create: 'Create endpoint',
  empty: 'No endpoints yet',
  emptyHint: 'Create one above, or with this command. The response contains its URL.',
  command: 'the command',
  copyUrl: (name: string) => `the URL of ${name}`,
  filter: 'Filter by name or URL',
  columns: {
    name: 'Endpoint',
    url: 'URL',
    requests: 'Requests',
    response: 'Response',
    created: 'Created',
    copy: 'Copy URL',
  },
  delete: 'Delete',
  deleting: (names: string[]) =>
    names.length === 1
      ? `Deleting “${names[0]}” and all its requests…`
      : `Deleting ${counted(names.length, 'endpoint')} and all their requests…`,
} as const

export const endpoint = {
  untitled: 'Endpoint',
  url: 'the URL',
  responds: (status: number, contentType: string, delaySeconds: number) =>
    `responds ${status} ${contentType}${delaySeconds > 0 ? ` after ${durationText(delaySeconds)}` : ''}`,
  signatures: (scheme: string) => ` · signatures: ${scheme}`,
  settings: 'Settings',
  har: 'HAR',
  clear: 'Clear',
  clearAbout: 'all requests',
  clearTitle: 'Delete all captured requests?',
  clearText: (name: string) =>
    `This deletes all requests of “${name}” and resets its count. The URL stays the same.`,
  delete: 'Delete',
  deleteAbout: 'this endpoint',
  deleting: (name: string) => `Deleting “${name}” and all its requests…`,
  deleteText: 'Its URL will return 404, and all its requests are deleted.',
} as const

export const settings = {
  title: (name: string) => `Settings for ${name}`,
  unnamed: 'endpoint',
  loading: 'Loading settings…',
  save: 'Save settings',
  delete: 'Delete endpoint',
  name: 'Name',
  response: 'Response',
  status: 'Status',
  delay: 'Response delay (seconds)',
  contentType: 'Content type',
  body: 'Body',
  template: 'Use request values in the response',
  templateHint:
    'The body may contain {{body.challenge}}, {{query.name}}, {{header.name}} and {{hmac_sha256 body.token}}, for senders that verify an endpoint with a challenge. Anyone can request a signature for any data: it’s made with the response secret below.',
  cors: 'Allow cross-origin requests (CORS)',
  corsHint: 'Web pages of any origin may send requests here.',
  signature: 'Signature',
  scheme: 'Verify signatures of',
  schemeHint: 'Each request shows whether its signature is valid. Requests are stored either way.',
  secret: 'Secret',
  secretKept: 'Leave empty to keep the current secret.',
  secretHint: 'Copy it from the sender. It’s stored encrypted and never shown again.',
  header: 'Header',
  prefix: 'Prefix of the signature',
  algorithm: 'Algorithm',
  encoding: 'Encoding',
  encodings: { hex: 'Hex', base64: 'Base64' },
  schemes: {
    none: 'Don’t verify',
    github: 'GitHub',
    stripe: 'Stripe',
    standard: 'Standard Webhooks, Svix',
    slack: 'Slack',
    shopify: 'Shopify',
    hmac: 'Another HMAC',
  },
  badSignature: 'Alert about requests without a valid signature',
  badSignatureHint: 'At once, then at most one alert per hour.',
  alerts: 'Alerts',
  silent: 'Alert without requests',
  silentHint: 'From the first request on. The next one ends the alert.',
  called: 'Alert about requests',
  calledHint: 'One alert with the number of requests since the last one.',
  noAlert: 'No alert',
  every: (duration: string) => `Up to one per ${duration.replace(/^1 (?=\w+$)/, '')}`,
  after: (duration: string) => `After ${duration}`,
  wrongStatus: 'Enter a status from 200 to 599.',
  wrongDelay: 'Enter a delay from 0 to 30 seconds.',
  missingSecret: 'Enter the secret that the sender shows.',
  missingHeader: 'Enter the name of the header.',
} as const

export const responseSecret = {
  title: 'Response secret',
  explanation:
    '{{hmac_sha256 …}} in the body signs with this secret. Senders are verified with a different one.',
  warning:
    'Anyone who knows the URL can get a signature for any data. Don’t trust signatures made with this secret anywhere else.',
  copy: 'the response secret',
  show: 'Show secret',
  replace: 'Replace secret',
  replaceAbout: 'responses are signed with',
  replaceTitle: 'Replace the response secret?',
  replaceText:
    'Responses are signed with a new secret from now on. Signatures made with the current one no longer match.',
} as const

export const firstRequest = {
  title: 'Waiting for the first request…',
  explanation: 'Call this URL from anywhere. Requests appear here as they arrive:',
  url: 'the URL',
  or: 'Or try it now:',
  command: 'the command',
  sendTest: 'Send test request',
} as const

export const list = {
  requests: 'Requests',
  captured: 'Captured requests',
  newRequests: (count: number) => counted(count, 'new request'),
  back: 'All requests',
  newer: 'Newer',
  older: 'Older',
  request: 'request',
  olderRequest: 'Older request',
  newerRequest: 'Newer request',
  newest: 'Back to the newest request',
} as const

export const filter = {
  focus: 'Filter',
  field: 'Filter by path, query, header or body',
  placeholder: 'Path, header or body',
  method: 'Method',
  anyMethod: 'Any method',
  loading: 'Loading…',
  noMatches: 'No requests match.',
  count: (count: number, hasMore: boolean, isFiltered: boolean) =>
    `${hasMore ? 'Newest ' : ''}${counted(count, isFiltered ? 'matching request' : 'request')}`,
} as const

export const request = {
  label: 'Request',
  loading: 'Loading request…',
  parts: 'Parts of the request',
  tabs: { body: 'Body', headers: 'Headers', query: 'Query', compare: 'Compare' },
  trailers: 'Trailers',
  name: 'Name',
  value: 'Value',
  curl: 'as cURL',
  copyCurl: 'Copy as cURL',
  from: (ip: string) => `from ${ip}`,
  size: (size: string, contentType: string | null) =>
    contentType ? `${size} of ${contentType}` : size,
  responded: (status: number | null) =>
    status === null ? 'no response: the client had disconnected' : `responded ${status}`,
  surplus: 'Surplus bytes',
  surplusText: (size: number, isBase64: boolean, storedBytes: number) =>
    `${counted(size, 'byte')} after the end of the body${isBase64 ? ', shown in base64' : ''}` +
    (size > storedBytes ? `; the first ${numberText(storedBytes)} are stored` : ''),
} as const

export const badges = {
  signed: 'Signed',
  badSignature: 'Bad signature',
  unsigned: 'Unsigned',
  unknownSignature: 'Signature not verified',
  rejected: 'Rejected',
  aborted: 'Aborted',
  abortedText: 'The sender disconnected before the end of the body.',
  truncated: 'Truncated',
  truncatedText: 'The body exceeds the size limit. Its beginning is stored.',
  surplus: 'Surplus',
  surplusText: (size: number, status: number | null) =>
    `${counted(size, 'byte')} followed the end of this request and ${
      status === null ? 'got no response' : `got the response ${status}`
    }. Check the sender’s Content-Length.`,
  preflight: 'Preflight',
  preflightText: 'A browser checked whether a web page may send requests here.',
} as const

export const body = {
  empty: 'No body',
  view: 'View of the body',
  views: { pretty: 'Pretty', form: 'Form', raw: 'Raw', hex: 'Hex' },
  download: 'Download',
  copy: 'the body',
  invalidJson: 'Invalid JSON',
  raw: 'Raw body',
  formatted: 'Formatted body',
  hexadecimal: 'Body in hexadecimal',
  fields: 'Form fields',
  fieldSize: 'Size',
  notText: 'not text',
} as const

export const compare = {
  noPrevious: 'No earlier request in the list.',
  loading: 'Loading the previous request…',
  tooLong: 'These requests are too long to compare.',
  same: 'Identical to the previous request.',
  previous: 'Compared with the previous request,',
  legend: 'Removed lines are marked −, added lines +.',
  changes: 'Changes',
} as const
