/** Nouns for path segments that make no good names. */
const NOUNS: Record<string, string> = {
  imap: '',
  webhook: '',
  endpoints: 'webhookEndpoints',
  migrate: 'migrations',
  audit: 'auditEntries',
  whitelist: 'whitelistEntries',
  rejected: 'rejectedFiles',
}

/** Verbs for the last segment of a POST, such as `retry`. */
const ACTIONS: Record<string, string> = {
  retry: 'retry',
  cancel: 'cancel',
  verify: 'verify',
  fetch: 'fetch',
  check: 'check',
  test: 'test',
  confirm: 'confirm',
  erase: 'erase',
  approve: 'approve',
  decision: 'decide',
  submitted: 'submit',
  code: 'sendCodeTo',
}

/** Verbs for the last segment of a GET that names a representation. */
const FORMS: Record<string, string> = {
  events: 'follow',
  raw: 'download',
  body: 'downloadBodyOf',
  export: 'export',
}

/**
 * Returns the `operationId` of a route without its own: a verb and a noun, such as
 * `listMonitoringHosts` or `retryMigration`. It depends only on method and path, so that it is
 * stable.
 * @param path as OpenAPI writes it, with `{parameters}`
 */
export function operationIdOf(method: string, path: string): string {
  const segments = path
    .split('/')
    .filter((segment) => segment !== '' && segment !== 'api' && segment !== 'v1')
  const isOne = segments.at(-1)?.startsWith('{') === true
  const words = segments.filter((segment) => !segment.startsWith('{'))
  // The authentication library names its endpoints this way already: `sign-in/email`,
  // `list-sessions`.
  if (words[0] === 'auth') return lowered(pascal(words.slice(1).join('-')))
  const last = words.at(-1) ?? ''
  const doing = { post: ACTIONS, get: FORMS }[method]?.[last]
  if (!isOne && doing) return doing + nounOf(words.slice(0, -1), true)
  const isMany =
    !isOne && method !== 'post' && singular(NOUNS[last] ?? last) !== (NOUNS[last] ?? last)
  return verbOf(method, isMany) + nounOf(words, !isMany)
}

function verbOf(method: string, isMany: boolean): string {
  switch (method) {
    case 'get':
      return isMany ? 'list' : 'get'
    case 'post':
      return 'create'
    case 'delete':
      return isMany ? 'clear' : 'delete'
    default:
      return 'update'
  }
}

/** `['monitoring', 'hosts']` as `MonitoringHost`, or with the last word as it is. */
function nounOf(segments: string[], isSingular: boolean): string {
  const words = segments.map((segment) => NOUNS[segment] ?? segment).filter((word) => word !== '')
  const parts = words.map((word, index) =>
    isSingular || index < words.length - 1 ? singular(word) : word,
  )
  return parts.map(pascal).join('')
}

function singular(word: string): string {
  if (word.endsWith('ies')) return `${word.slice(0, -3)}y`
  if (word.endsWith('xes')) return word.slice(0, -2)
  return word.endsWith('s') && !/(us|ss|stats)$/.test(word) ? word.slice(0, -1) : word
}

function pascal(word: string): string {
  return word.replace(/(?:^|[-.])(\w)/g, (_whole, letter: string) => letter.toUpperCase())
}

function lowered(word: string): string {
  return word.charAt(0).toLowerCase() + word.slice(1)
}
