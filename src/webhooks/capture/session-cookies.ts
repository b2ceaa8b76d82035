import { COOKIE_PREFIX } from '../../http/cookies.ts'
import type { Header } from '../headers.ts'

/**
 * The names of the session cookies, with the prefixes that browsers interpret. The length is
 * bounded because a crafted header would otherwise be scanned repeatedly.
 */
const NAME = `(?:__(?:Secure|Host)-)?${COOKIE_PREFIX}\\.[^=;\\s]{0,100}`
const SESSION_COOKIE = new RegExp(`^\\s*${NAME}=`, 'i')
const SESSION_COOKIE_ANYWHERE = new RegExp(`(${NAME})=[^;\\s]*`, 'gi')

/**
 * Removes the session cookies that a signed-in browser sends when it opens an endpoint: they must
 * not appear in the list.
 */
export function removeSessionCookies(headers: Header[]): Header[] {
  if (!headers.some(hasSessionCookie)) return headers
  return headers.flatMap((header): Header[] => {
    if (!hasSessionCookie(header)) return [header]
    const cookies = header[1].split(';').filter((cookie) => !SESSION_COOKIE.test(cookie))
    return cookies.length === 0 ? [] : [[header[0], cookies.join(';').trimStart()]]
  })
}

/** Redacts the session cookies in bytes that could not be parsed as a request. */
export function redactSessionCookies(text: string): string {
  return text.replace(SESSION_COOKIE_ANYWHERE, '$1=')
}

function hasSessionCookie([name, value]: Header): boolean {
  return (
    name.length === 6 &&
    name.toLowerCase() === 'cookie' &&
    value.toLowerCase().includes(`${COOKIE_PREFIX}.`)
  )
}
