import { Fault } from '../../errors.ts'
import { createRecentEntries } from '../../recent-entries.ts'
import { MINUTE_MS } from '../../time.ts'
import { COOKIE_PREFIX } from '../../http/cookies.ts'
import type { AuthOptions } from './auth-settings.ts'
import type { Library } from './better-auth.ts'

export type Auth = ReturnType<typeof createAuth>

/**
 * Opens better-auth at its first use: a service that only programs use, with tokens, never needs
 * its ten megabytes.
 */
export function createAuth(options: AuthOptions) {
  let opened: Promise<Library> | undefined
  const open = () => (opened ??= openLibrary(options))
  /** Account ids by session cookie, of sessions that were there lately. */
  const owners = createRecentEntries<string>(MAX_OWNERS, { ttl: OWNER_MS })
  return {
    /**
     * The session in the cookies of a request; null where there is none. Only with `refresh` it is
     * extended, because the response must then set the cookies in `headers`.
     * @throws Fault `unavailable`
     */
    async session(cookies: string | undefined, { refresh }: { refresh: boolean }) {
      const cookie = sessionCookieIn(cookies)
      if (cookies === undefined || cookie === undefined) return null
      const { getSession } = (await open()).api
      const headers = { cookie: cookies }
      const query = refresh ? {} : { disableRefresh: true }
      const answer = await getSession({ headers, query, returnHeaders: true }).catch(ended)
      if (!answer?.response) {
        owners.delete(cookie)
        return null
      }
      owners.set(cookie, answer.response.user.id)
      return { ...answer.response, headers: answer.headers }
    },
    /**
     * The account of a session cookie that had a session lately. It may have ended since: for shares,
     * never for access.
     */
    ownerOf(cookies: string | undefined): string | undefined {
      const cookie = sessionCookieIn(cookies)
      return cookie === undefined ? undefined : owners.get(cookie)
    },
    baseUrl: options.config.BASE_URL,
    /** Answers a request as the library does. Throws what is not an error of the library. */
    handler: async (request: Request) => (await open()).handler(request),
    /** The functions of the library. */
    api: async () => (await open()).api,
  }
}

/** About 3 MB when full. */
const MAX_OWNERS = 10_000
const OWNER_MS = 10 * MINUTE_MS

const SESSION_COOKIE = new RegExp(`${COOKIE_PREFIX}\\.session_token=([^;]+)`)

/** The value of the session cookie; undefined where there is none. */
export function sessionCookieIn(cookies: string | undefined): string | undefined {
  return SESSION_COOKIE.exec(cookies ?? '')?.[1]
}

/** The library reports only that it failed, and logs the database’s reason. */
function ended(cause: unknown): null {
  if (!(cause instanceof Error && cause.name === 'APIError')) throw cause
  // The session ended while it was being extended.
  if ((cause as Error & { statusCode?: number }).statusCode === 401) return null
  throw new Fault(
    'unavailable',
    'Sessions cannot be verified at the moment. Try again in a few seconds.',
    { retryAfter: 5, cause },
  )
}

async function openLibrary(options: AuthOptions): Promise<Library> {
  return (await import('./better-auth.ts')).openLibrary(options)
}
