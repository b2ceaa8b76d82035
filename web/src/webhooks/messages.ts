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
  emptyHint: 'Create one here, or with this command. The response contains its URL.',
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
  email: 'the email address',
  url: 'the URL',
  responds: (status: number, contentType: string, delaySeconds: number) =>
    `responds ${status} ${contentType}${delaySeconds > 0 ? ` after ${durationText(delaySeconds)}` : ''}`,
  signatures: (scheme: string) => ` · signatures: ${scheme}`,
  settings: 'Settings',
  rules: 'Rules',
  destinations: 'Forwarding',
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
  responseHeaders: 'Headers',
  responseHeadersHint: 'One per line, such as “Retry-After: 5”.',
  urlName: 'Name in the URL (optional)',
  urlNameHint:
    'Lower-case letters, digits and hyphens. Unlike the token, it can be guessed: verify signatures.',
  template: 'Use request values in the response',
  templateHint:
    'The body may contain {{body.challenge}}, {{query.name}}, {{header.name}} and {{hmac_sha256 body.token}}, for senders that verify an endpoint with a challenge. Anyone can request a signature for any data: it’s made with the response secret below.',
  cors: 'Allow cross-origin requests (CORS)',
  corsHint: 'Web pages of any origin may send requests here.',
  receivesEmail: 'Receive email',
  receivesEmailHint: 'The endpoint gets an address. Off and on again makes a new one.',
  repeatKey: 'Event id (optional)',
  repeatKeyHint:
    'A field such as body/id by which repeated requests are recognized. By default the usual headers.',
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
  silent: 'Alert me when requests stop',
  silentHint: 'From the first request on. The next one ends the alert.',
  called: 'Alert me when requests arrive',
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
  earlier: 'Repeats an earlier request',
  label: 'Request',
  loading: 'Loading request…',
  parts: 'Parts of the request',
  tabs: {
    body: 'Body',
    headers: 'Headers',
    query: 'Query',
    compare: 'Compare',
    send: 'Send',
    share: 'Share',
  },
  trailers: 'Trailers',
  name: 'Name',
  value: 'Value',
  curl: 'as cURL',
  copyCurl: 'Copy as cURL',
  from: 'from',
  size: (size: string, contentType: string | null) =>
    contentType ? `${size} of ${contentType}` : size,
  responded: (status: number | null) =>
    status === null ? 'no response: the client had disconnected' : `responded ${status}`,
  fault: (fault: string) => `fault: ${fault}`,
  listener: (status: number, wasSent: boolean) =>
    wasSent ? 'answered by a listener' : `a listener answered ${status}, too late`,
  byRule: (label: string, answer: number, key: string | null) =>
    `${label === '' ? 'by a rule' : `by the rule “${label}”`}, answer ${answer}${key ? ` for ${key}` : ''}`,
  surplus: 'Surplus bytes',
  surplusText: (size: number, isBase64: boolean, storedBytes: number) =>
    `${counted(size, 'byte')} after the end of the body${isBase64 ? ', shown in base64' : ''}` +
    (size > storedBytes ? `; the first ${numberText(storedBytes)} are stored` : ''),
} as const

export const sharing = {
  hint: 'Everyone who has the link sees the request, without the client’s address and without the values of signatures, tokens, cookies and other secrets.',
  loading: 'Loading links…',
  create: 'Create link',
  days: 'Expires after',
  body: 'Show the body, too',
  bodyHint: 'As it is: check that it has no secrets.',
  link: 'the link',
  withBody: 'With the body',
  withoutBody: 'Without the body',
  expires: 'expires',
  end: 'End link',
} as const

export const SHARE_DAYS = [
  { value: '1', label: '1 day' },
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
]

export const sharedRequest = {
  notFound: 'Request not found',
  home: 'Home',
  loading: 'Loading request…',
  expires: 'This link expires on',
  redacted: (names: string[]) => `Hidden: ${names.join(', ')}.`,
  received: 'Received',
  query: 'Query',
  size: 'Size',
  type: 'Type',
  headers: 'Headers',
  name: 'Name',
  value: 'Value',
  body: 'Body',
  hidden: 'The body isn’t shared.',
  empty: 'No body',
  base64: 'The body isn’t text. In base64:',
} as const

export const sendAgain = {
  none: 'This endpoint has no destination.',
  add: 'Add a destination',
  loading: 'Loading destinations…',
  destination: 'Destination',
  method: 'Method',
  path: 'Path',
  query: 'Query',
  headers: 'Headers',
  body: 'Body',
  bodyStays: 'The body is sent as captured.',
  send: 'Send',
  preview: 'Preview',
  sent: 'The request was queued. The deliveries of the endpoint show its result.',
  matches: 'The destination gets this:',
  noMatch: 'The conditions of the destination aren’t met, but you can send it:',
  binary: '(not text)',
} as const

/** Methods that a request can be sent with, and the one it was captured with. */
export const sentMethods = (captured: string) =>
  [...new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', captured])].map(
    (value) => ({ value, label: value }),
  )

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
  repeat: 'Repeated',
  repeatText: 'An earlier request of the last 24 hours has the same event id.',
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
  foldAll: 'Fold all',
  unfoldAll: 'Unfold all',
  fold: (line: number) => `Fold line ${line}`,
  hiddenLines: (count: number) => ` … ${counted(count, 'line')} `,
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

export const rules = {
  title: (name: string) => `Rules for ${name}`,
  lead: 'The first rule that matches a request answers it. Other requests get the endpoint’s own response.',
  loading: 'Loading rules…',
  yours: 'Rules',
  empty: 'No rules yet',
  emptyHint: 'Add one to answer some requests differently, or to fail on purpose.',
  add: 'Add a rule',
  unnamed: (place: number) => `Rule ${place}`,
  off: 'Off',
  active: 'Active',
  deleting: (name: string) => `Deleting “${name}”…`,
  reset: 'Restart sequence',
  resetDone: 'The sequence starts again.',
  everyRequest: 'Every request',
  answers: (count: number) => counted(count, 'answer'),
  perKey: (key: string) => `, counted for each ${key}`,
  check: 'Check the newest request',
  checkHint: 'Shows which rules match the newest captured request. Nothing is sent.',
  noRequest: 'No request has been captured yet.',
  matches: 'Matches',
  noMatch: 'No match',
  answering: (name: string) => `${name} would answer the newest request.`,
  ownResponse: 'The endpoint’s own response would answer the newest request.',
} as const

export const ruleForm = {
  create: 'Add rule',
  save: 'Save rule',
  label: 'Name (optional)',
  labelExample: 'fail twice',
  conditions: 'Conditions',
  conditionsHint: 'A request must meet all of them. Without any, the rule matches every request.',
  condition: (place: number) => `Condition ${place}`,
  field: 'Field',
  name: 'Name or JSON Pointer',
  nameHint: 'A header, a parameter, or a path such as /order/id.',
  operator: 'Comparison',
  value: 'Value',
  addCondition: 'Add condition',
  removeCondition: 'Remove condition',
  asJson: 'Edit conditions as JSON',
  asJsonHint: 'For $or, $not and nested conditions.',
  json: 'Conditions in JSON',
  wrongJson: 'This isn’t valid JSON.',
  missingName: 'Enter the name.',
  answers: 'Answers',
  answersHint: 'With several, each request gets the next one.',
  answer: (place: number) => `Answer ${place}`,
  addAnswer: 'Add answer',
  removeAnswer: 'Remove answer',
  status: 'Status',
  type: 'Content type',
  delay: 'Delay (ms)',
  delayHint: 'A number, or a range such as 200-800.',
  times: 'Requests with this answer',
  fault: 'Fault',
  faultHint: 'Behind a reverse proxy, the sender gets 502 or 504 instead.',
  headers: 'Headers',
  headersHint: 'One per line, such as “Retry-After: 5”.',
  body: 'Body',
  template: 'Use request values in the body',
  after: 'After the last answer',
  key: 'Count separately for each (optional)',
  keyHint: 'Such as headers.webhook-id or body/id, so that retries of one event are counted alone.',
  keyMinutes: 'Forget it after (minutes)',
  wrongStatus: 'Enter a status from 200 to 599.',
  wrongDelay: 'Enter milliseconds up to 30000, or a range.',
  wrongTimes: 'Enter a number from 1 to 1000.',
  wrongHeader: 'Write each header as “Name: value”.',
  wrongMinutes: 'Enter a number from 1 to 10080.',
} as const

export const RULE_FIELDS = [
  { value: 'method', label: 'Method' },
  { value: 'path', label: 'Path' },
  { value: 'headers.', label: 'Header' },
  { value: 'query.', label: 'Query parameter' },
  { value: 'body/', label: 'JSON field' },
  { value: 'body', label: 'Whole body' },
  { value: 'ip', label: 'Sender’s address' },
  { value: 'verified', label: 'Valid signature' },
]

export const RULE_OPERATORS = [
  { value: '$eq', label: 'is' },
  { value: '$ne', label: 'is not' },
  { value: '$in', label: 'is one of (commas)' },
  { value: '$contains', label: 'contains' },
  { value: '$startsWith', label: 'starts with' },
  { value: '$endsWith', label: 'ends with' },
  { value: '$gt', label: 'is more than' },
  { value: '$gte', label: 'is at least' },
  { value: '$lt', label: 'is less than' },
  { value: '$lte', label: 'is at most' },
  { value: '$exists', label: 'exists' },
  { value: '$missing', label: 'is missing' },
]

export const RULE_FAULTS = [
  { value: '', label: 'None' },
  { value: 'close', label: 'Close the connection' },
  { value: 'reset', label: 'Reset the connection' },
  { value: 'hang', label: 'Don’t answer for a minute' },
  { value: 'truncate', label: 'Truncate the body' },
  { value: 'trickle', label: 'Send the body slowly' },
]

export const RULE_ENDS = [
  { value: 'last', label: 'Keep sending the last answer' },
  { value: 'repeat', label: 'Start again with the first answer' },
]

export const destinations = {
  title: (name: string) => `Forwarding of ${name}`,
  lead: 'Each request is sent to these servers, byte for byte. It arrives at least once; repetitions are marked.',
  loading: 'Loading destinations…',
  yours: 'Destinations',
  empty: 'No destinations yet',
  emptyHint: 'Add a server that captured requests are forwarded to.',
  add: 'Add a destination',
  secretHint: 'The receiver verifies signatures with this secret. It’s shown only now.',
  copySecret: 'the signing secret',
  publicKey: 'Public key',
  states: { active: 'Active', paused: 'Paused', off: 'Off' },
  failing: 'Failing',
  waiting: (count: number) => `${numberText(count)} waiting`,
  held: (count: number) => `${numberText(count)} held`,
  oldestWaiting: 'Oldest waiting request',
  successRate: 'Delivered',
  percent: (share: number) => `${numberText(Math.round(share * 100))}% of the last ones`,
  full: 'The queue is full: new requests aren’t forwarded.',
  nextAttempt: 'Next attempt',
  lastError: 'Last error',
  lastSuccess: 'Last success',
  conditions: 'Conditions',
  edit: 'Edit',
  cancel: 'Cancel',
  pause: 'Pause',
  resume: 'Resume',
  resumeDrop: 'Resume without held requests',
  test: 'Send test event',
  tested: (status: number | null, milliseconds: number) =>
    `${status === null ? 'No answer' : `The receiver responded ${status}`} after ${numberText(Math.round(milliseconds))} ms.`,
  answer: 'Answer of the receiver',
  rotate: 'Replace secret',
  rotateTitle: 'Replace the signing secret?',
  rotateText:
    'Requests are signed with both secrets for 24 hours. Then the current one is invalid.',
  delete: 'Delete',
  deleting: (name: string) => `Deleting “${name}” and its deliveries…`,
} as const

export const destinationForm = {
  create: 'Add destination',
  save: 'Save destination',
  label: 'Name (optional)',
  labelExample: 'shop backend',
  url: 'URL',
  urlHint: 'The path and query below the endpoint are added.',
  sign: 'Sign requests',
  signHint: 'Signatures of the sender may be too old after a retry.',
  order: 'Order',
  orderKey: 'Field of the order',
  orderKeyHint: 'Such as body/id: requests with the same value are sent one at a time.',
  concurrency: 'Requests at once',
  perMinute: 'Requests per minute (optional)',
  timeout: 'Timeout (seconds)',
  headers: 'Headers',
  headersHint: 'One per line, such as “Authorization: Bearer …”. Stored encrypted.',
  conditions: 'Conditions in JSON',
  conditionsHint: 'As in rules; {} forwards every request.',
  finalStatuses: 'Statuses without a retry (optional)',
  finalStatusesHint: 'Such as 400, 422.',
  change: 'Change in JSON (optional)',
  changeHint: 'Such as {"patch": [{"op": "remove", "path": "/secret"}]}: a JSON Patch of the body.',
  skipRepeats: 'Leave out repeated requests',
  skipRepeatsHint: 'Requests with the same event id within 24 hours.',
  advanced: 'More settings',
  missingUrl: 'Enter a URL that begins with https://.',
  wrongNumber: (min: number, max: number) => `Enter a number from ${min} to ${max}.`,
  wrongStatuses: 'Enter statuses from 400 to 599, separated by commas.',
} as const

export const DESTINATION_SIGNINGS = [
  { value: 'standard', label: 'With a secret (HMAC)' },
  { value: 'standard-ed25519', label: 'With a key pair (Ed25519)' },
  { value: 'rfc9421', label: 'HTTP Message Signatures (RFC 9421)' },
  { value: 'none', label: 'Don’t sign' },
]

export const DESTINATION_ORDERS = [
  { value: 'none', label: 'Any order' },
  { value: 'key', label: 'In order for each value of a field' },
  { value: 'strict', label: 'Strictly in order' },
]

export const deliveries = {
  title: 'Deliveries',
  state: 'State',
  any: 'Any state',
  loading: 'Loading deliveries…',
  empty: 'No deliveries.',
  columns: ['State', 'Destination', 'Time', 'Result', 'Action'],
  states: {
    waiting: 'Waiting',
    sending: 'Sending',
    delivered: 'Delivered',
    dead: 'Failed',
    held: 'Held',
    dropped: 'Dropped',
    unsendable: 'Not sendable',
    cancelled: 'Cancelled',
  },
  request: 'Request',
  attempts: (count: number) => counted(count, 'attempt'),
  edited: 'edited',
  uncertain: 'may have arrived',
  retry: 'Retry',
  retryAbout: (time: string) => `the delivery of ${time}`,
  attemptList: 'Attempts',
  attemptColumns: ['Time', 'Result', 'Duration', 'Address'],
  timings: (
    total: number,
    phases: {
      dnsMs: number | null
      connectMs: number | null
      tlsMs: number | null
      firstByteMs: number | null
    },
  ) =>
    [
      `${numberText(total)} ms`,
      phases.dnsMs !== null && `DNS ${numberText(phases.dnsMs)}`,
      phases.connectMs !== null && `connect ${numberText(phases.connectMs)}`,
      phases.tlsMs !== null && `TLS ${numberText(phases.tlsMs)}`,
      phases.firstByteMs !== null && `first byte ${numberText(phases.firstByteMs)}`,
    ]
      .filter(Boolean)
      .join(' · '),
} as const

export const replays = {
  title: 'Replay',
  destination: 'Destination',
  choice: 'Requests',
  hours: 'Of the last hours (optional)',
  perMinute: 'Requests per minute',
  hint: 'New requests are sent beside them. The sender’s own signature may be too old for the receiver.',
  start: 'Start replay',
  states: { running: 'In progress', done: 'Done', cancelled: 'Cancelled' },
  progress: (queued: number, compared: number, total: number) =>
    `${counted(queued, 'request')} queued; ${numberText(compared)} of ${numberText(total)} compared`,
  cancel: 'Cancel',
  cancelAbout: (time: string) => `the replay of ${time}`,
} as const

export const REPLAY_CHOICES = [
  { value: 'all', label: 'All stored requests' },
  { value: 'failed', label: 'Only requests that were not delivered' },
]
