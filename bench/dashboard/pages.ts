/** Pages with an object in their path: where the API lists the objects, and the pages of one. */
const OBJECT_PAGES: { list: string; key: string; pages: string[] }[] = [
  { list: '/api/v1/domains?watched=true&limit=1', key: 'domain', pages: ['/domains/$'] },
  {
    list: '/api/v1/dmarc/domains',
    key: 'id',
    pages: ['/dmarc/$', '/dmarc/$/reports', '/dmarc/$/tls', '/dmarc/$/record'],
  },
  {
    list: '/api/v1/monitoring/hosts',
    key: 'id',
    pages: ['/monitoring/$', '/monitoring/$/settings'],
  },
  { list: '/api/v1/delisting/status?limit=1', key: 'id', pages: ['/delisting/$'] },
  { list: '/api/v1/imap/migrations?page=1&limit=1', key: 'migrationId', pages: ['/migrations/$'] },
  { list: '/api/webhook/endpoints', key: 'id', pages: ['/hooks/$', '/hooks/$/settings'] },
]

const PUBLIC_PAGES = [
  '/',
  '/sign-in',
  '/setup',
  '/forgot-password',
  '/address',
  '/network',
  '/docs',
]

const OWN_PAGES = [
  '/home',
  '/check',
  '/domains',
  '/hooks',
  '/tokens',
  '/account',
  '/dmarc',
  '/dmarc/rejected',
  '/dmarc/mailboxes',
  '/monitoring',
  '/monitoring/lists',
  '/delisting',
  '/delisting/new',
  '/migrations',
  '/migrations/new',
  '/migrations/batches',
  '/migrations/batches/new',
  '/migrations/sign-ins',
  '/attacks',
  '/attacks/servers',
  '/attacks/fleet',
  '/attacks/list',
  '/attacks/connect',
  '/attacks/feeds',
  '/attacks/relays',
  '/attacks/mails',
  '/attacks/networks',
  '/attacks/federation',
  '/alerts',
  '/alerts/channels',
  '/alerts/channels/new',
  '/alerts/rules',
  '/alerts/digest',
  '/workspace',
  '/workspace/members',
  '/workspace/invitations',
  '/workspace/audit',
  '/workspaces',
  '/administration',
  '/administration/accounts',
  '/administration/workspaces',
  '/administration/mail-providers',
  '/administration/audit',
  '/attacks/administration',
]

/**
 * Lists the paths of all pages; without a session, of the public ones.
 * @param cookie the header `Cookie` of a session; empty without one
 */
export async function allPages(url: string, cookie: string): Promise<string[]> {
  if (!cookie) return PUBLIC_PAGES
  const found = await Promise.all(OBJECT_PAGES.map((object) => pagesOf(object, url, cookie)))
  return [...OWN_PAGES, ...found.flat()]
}

async function pagesOf(
  { list, key, pages }: (typeof OBJECT_PAGES)[number],
  url: string,
  cookie: string,
): Promise<string[]> {
  const answer = await fetch(new URL(list, url), { headers: { cookie } })
  if (!answer.ok) throw new Error(`${list} was answered ${answer.status}.`)
  const value = firstValue(await answer.json(), key)
  return value === null ? [] : pages.map((page) => page.replace('$', encodeURIComponent(value)))
}

/** The first text with this key in an answer of the API, at any depth. */
export function firstValue(answer: unknown, key: string): string | null {
  if (typeof answer !== 'object' || answer === null) return null
  const own = (answer as Record<string, unknown>)[key]
  if (typeof own === 'string') return own
  for (const inner of Object.values(answer)) {
    const found = firstValue(inner, key)
    if (found !== null) return found
  }
  return null
}

/** Signs in. @returns the value of the header `Cookie`; empty without an account */
export async function signIn({
  url,
  email,
  password,
}: {
  url: string
  email?: string | undefined
  password?: string | undefined
}): Promise<string> {
  if (!email) return ''
  const answer = await fetch(new URL('/api/auth/sign-in/email', url), {
    method: 'POST',
    headers: { 'content-type': 'application/json', origin: url },
    body: JSON.stringify({ email, password }),
  })
  if (!answer.ok) throw new Error(`Signing in as ${email} was answered ${answer.status}.`)
  return answer.headers
    .getSetCookie()
    .map((cookie) => cookie.split(';')[0])
    .join('; ')
}
