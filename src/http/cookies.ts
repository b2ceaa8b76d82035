import { basePathOf } from '../setting-values.ts'

/** Begins the names of all cookies, so that captured requests can be rid of them. */
export const COOKIE_PREFIX = 'portreeve'

/**
 * The prefix of a cookie’s name that makes browsers require the attributes of `cookieLine`. With
 * `__Host-`, no other host of the same domain can set the cookie, which needs the path `/`: where the
 * service has only a part of an origin, `__Secure-` must do.
 */
export function namePrefixOf(baseUrl: string): '__Host-' | '__Secure-' | '' {
  if (!baseUrl.startsWith('https:')) return ''
  return basePathOf(baseUrl) === '' ? '__Host-' : '__Secure-'
}

/** The path of all cookies: other services of the same origin do not get them. */
export const cookiePathOf = (baseUrl: string) => basePathOf(baseUrl) || '/'

/** The whole name of a cookie of this service. */
export function cookieNameOf(baseUrl: string, name: string): string {
  return `${namePrefixOf(baseUrl)}${COOKIE_PREFIX}.${name}`
}

type NewCookie = { baseUrl: string; name: string; value: string; maxAgeSeconds: number }

/** A line of `Set-Cookie`. Lax: providers send the browser back by a navigation from another site. */
export function cookieLine({ baseUrl, name, value, maxAgeSeconds }: NewCookie): string {
  const secure = namePrefixOf(baseUrl) === '' ? '' : '; Secure'
  return `${cookieNameOf(baseUrl, name)}=${value}; Max-Age=${maxAgeSeconds}; Path=${cookiePathOf(baseUrl)}; HttpOnly; SameSite=Lax${secure}`
}

/** The value of a cookie by its whole name; empty where the request has none. */
export function cookieIn(header: string | undefined, name: string): string {
  const pair = header?.split('; ').find((each) => each.startsWith(`${name}=`))
  return pair?.slice(name.length + 1) ?? ''
}
