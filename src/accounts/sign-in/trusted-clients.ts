import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'
import { parseAddress } from '../../net/address.ts'
import type { DB } from '../../store/tables.ts'
import { isKnownNetwork, saveKnownNetwork } from '../attempts.sql.ts'
import { cookieIn, cookieLine, cookieNameOf } from '../../http/cookies.ts'
import { deriveKey } from '../../derive-key.ts'
import { subjects } from './password-throttle.ts'
import { DAY_SECONDS } from '../../time.ts'

export const KNOWN_NETWORK_DAYS = 90
const DEVICE_COOKIE_SECONDS = 180 * DAY_SECONDS

const COOKIE = 'device'
/** Its name with HTTPS before `__Host-`, of browsers that have not signed in since. */
const COOKIE_BEFORE = '__Secure-portreeve.device'

export type TrustedClients = ReturnType<typeof createTrustedClients>

/**
 * Remembers browsers and networks from which the owner of an account has signed in. Guesses by
 * strangers are throttled per account; without this, an attack would also lock out the owner
 * (OWASP, “Device cookies”).
 */
export function createTrustedClients({
  db,
  secretKey,
  baseUrl,
}: {
  db: Kysely<DB>
  secretKey: string
  baseUrl: string
}) {
  const key = deriveKey(secretKey, 'known places')
  const mac = (text: string) => createHmac('sha256', key).update(text).digest()
  const networkHash = (email: string, ip: string) => mac(`network\n${email}\n${networkOf(ip)}`)
  const name = cookieNameOf(baseUrl, COOKIE)

  /**
   * The nonce of the device cookie, which a browser gets after signing in with this email; null
   * without one.
   */
  function deviceOf({ headers }: FastifyRequest, email: string): string | null {
    const value = cookieIn(headers.cookie, name) || cookieIn(headers.cookie, COOKIE_BEFORE)
    const [nonce = '', given = ''] = value.split('.')
    const expected = mac(`device\n${email}\n${nonce}`)
    const bytes = Buffer.from(given, 'base64url')
    return bytes.length === expected.length && timingSafeEqual(bytes, expected) ? nonce : null
  }

  return {
    /** What is known of the client: its browser, else its network, else nothing. */
    async recognise(request: FastifyRequest, email: string): Promise<'browser' | 'network' | null> {
      if (deviceOf(request, email) !== null) return 'browser'
      return (await isKnownNetwork(db, networkHash(email, request.ip))) ? 'network' : null
    },
    /**
     * The throttle subject of a sign-in attempt. Works the same for an email without an account.
     */
    async subjectOf(request: FastifyRequest, email: string): Promise<string> {
      const isKnown = await isKnownNetwork(db, networkHash(email, request.ip))
      const device = deviceOf(request, email)
      if (device !== null) return subjects.device(device)
      return isKnown ? subjects.network(email, networkOf(request.ip)) : subjects.email(email)
    },
    /**
     * Remembers the client. Called after a correct password.
     * @returns the cookie to set
     */
    async remember(request: FastifyRequest, email: string): Promise<string> {
      await saveKnownNetwork(db, networkHash(email, request.ip), email)
      const nonce = deviceOf(request, email) ?? randomBytes(16).toString('base64url')
      const value = `${nonce}.${mac(`device\n${email}\n${nonce}`).toString('base64url')}`
      return cookieLine({ baseUrl, name: COOKIE, value, maxAgeSeconds: DEVICE_COOKIE_SECONDS })
    },
  }
}

/** An IPv4 address, or the /64 of an IPv6 address, which usually belongs to one network. */
function networkOf(ip: string): string {
  const parsed = parseAddress(ip)
  if (parsed?.family !== 6) return parsed?.address ?? ip
  return ipaddr.parse(parsed.address).toByteArray().slice(0, 8).join('.')
}
