import { createBrowser } from '../servers/openid-provider.ts'
import type { Person, TestService } from '../service.ts'

export const BASE_URL = 'http://portreeve.test'
export const CALLBACK = `${BASE_URL}/api/v1/imap/oauth/callback`

export type MailBrowser = Awaited<ReturnType<typeof signedInBrowser>>

/** A browser in which a person is signed in, and which follows redirects of a provider. */
export async function signedInBrowser(
  portreeve: TestService,
  { email, password }: Pick<Person, 'email' | 'password'>,
) {
  const headers = { 'content-type': 'application/json', origin: BASE_URL }
  const answer = await portreeve.request('/api/auth/sign-in/email', {
    method: 'POST',
    headers,
    body: JSON.stringify({ email, password }),
  })
  const browser = createBrowser(BASE_URL, portreeve.url)
  browser.setCookies(answer.headers.getSetCookie())
  const visited: string[] = []

  /** Opens a page in a window that is signed in here, but not at the provider. */
  async function visit(url: string): Promise<{ path: string; status: number }> {
    const window = createBrowser(BASE_URL, portreeve.url)
    window.setCookies(browser.cookie().split('; '))
    const page = await window.visit(url)
    visited.splice(0, visited.length, ...window.visited)
    return page
  }

  async function ask(path: string, body?: object, more: Record<string, string> = {}) {
    const response = await portreeve.request(`/api/v1/imap/${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { ...headers, ...more, cookie: browser.cookie() },
      body: body ? JSON.stringify(body) : null,
    })
    const text = await response.text()
    return { status: response.status, text, json: JSON.parse(text) as { data: never } }
  }

  async function start(body: object = { provider: 'other' }, more: Record<string, string> = {}) {
    const { status, text, json } = await ask('oauth/consents', body, more)
    if (status !== 201) throw new Error(text)
    return json.data as { id: string; url: string }
  }

  return {
    ask,
    start,
    visit,
    /** The addresses of the last visit. */
    visited,
    cookie: () => browser.cookie(),
    /** Starts a sign-in and completes it. */
    async consent(body?: object, more: Record<string, string> = {}) {
      const started = await start(body, more)
      const page = await visit(started.url)
      const { json } = await ask(`oauth/consents/${started.id}`, undefined, more)
      return { ...started, page, ...(json.data as ConsentState) }
    },
  }
}

type ConsentState = {
  state: string
  problem: string | null
  credential: { id: string; account: string; state: string } | null
}
