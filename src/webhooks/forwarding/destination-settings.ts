import { createHash, createPublicKey, randomBytes, randomUUID } from 'node:crypto'
import { Fault, type FaultDetail } from '../../errors.ts'
import { parseHost } from '../../net/address.ts'
import { refuseAddress } from '../../net/guard.ts'
import { parseUrl } from '../../parse-url.ts'
import { createSigningKey } from '../../protocols/http-signature.ts'
import type { PrivateTargets } from '../../setting-values.ts'
import { decrypt, encrypt, tryDecrypt } from '../../store/encryption.ts'
import type { EncryptedColumn } from '../../store/key-rotation.ts'
import { DAY_MS } from '../../time.ts'
import { parseConditions } from '../conditions/conditions.ts'
import { parseField } from '../conditions/request-values.ts'
import { findWrongChange } from './change-request.ts'
import { findWrongRequestHeaders } from '../endpoints/response-headers.ts'
import type { Header } from '../headers.ts'
import type { DestinationSettings } from './shapes.ts'

/** What of a destination is encrypted. */
export type SealedSettings = {
  url: string
  headers: Header[]
  /** 32 bytes in base64: the key of the HMAC, and the seed of the Ed25519 key. */
  secret: string
  /** The secret before, with which requests are also signed until then. */
  previous: { secret: string; until: number } | null
}

export type DestinationPolicy = {
  allowPrivate: PrivateTargets
  /** Hosts of this installation, which nothing is forwarded to. */
  ownHosts: ReadonlySet<string>
}

const SECRET_BYTES = 32
/** How long requests are signed with the secret before, too. */
const ROTATION_MS = DAY_MS
const HMAC_PREFIX = 'whsec_'
const ED25519_PREFIX = 'whpk_'

export const newDestinationId = (): string => randomUUID()
export const newDestinationSecret = (): string => randomBytes(SECRET_BYTES).toString('base64')

/** The secret as receivers know it; null for signatures without a shared secret. */
export function shownSecret(sign: string, { secret }: SealedSettings): string | null {
  return sign === 'standard' ? HMAC_PREFIX + secret : null
}

/** The public key as Standard Webhooks writes it, or in PEM; null where the secret is shared. */
export function publicKeyOf(sign: string, { secret }: SealedSettings): string | null {
  if (sign === 'rfc9421')
    return createPublicKey(signingKeyOf(secret).privateKey)
      .export({ format: 'pem', type: 'spki' })
      .toString()
  if (sign !== 'standard-ed25519') return null
  const key = Buffer.from(signingKeyOf(secret).publicKey, 'base64url').toString('base64')
  return ED25519_PREFIX + key
}

export function signingKeyOf(secret: string) {
  return createSigningKey(Buffer.from(secret, 'base64').toString('base64url'))
}

/** The settings with a new secret. The one before signs, too, until receivers know the new one. */
export function rotated(settings: SealedSettings, now: number): SealedSettings {
  const previous = { secret: settings.secret, until: now + ROTATION_MS }
  return { ...settings, secret: newDestinationSecret(), previous }
}

export function seal(id: string, settings: SealedSettings, secretKey: string): string {
  return encrypt(JSON.stringify(settings), secretKey, contextOf(id))
}

/** @throws Fault `internal` where this key does not decrypt it */
export function unseal(
  { id, sealed }: { id: string; sealed: string },
  secretKey: string,
): SealedSettings {
  return JSON.parse(decrypt(sealed, secretKey, contextOf(id))) as SealedSettings
}

/** The settings of a destination; null where this key does not decrypt them. */
export function tryUnseal(
  { id, sealed }: { id: string; sealed: string },
  secretKey: string,
): SealedSettings | null {
  const text = tryDecrypt(sealed, secretKey, contextOf(id))
  return text === null ? null : (JSON.parse(text) as SealedSettings)
}

function contextOf(id: string): string {
  return `webhook-destination/${id}`
}

/** The URLs, headers and signing secrets of destinations. */
export const DESTINATION_COLUMNS: EncryptedColumn[] = [
  { table: 'webhook_destination', id: 'id', column: 'sealed', contextOf },
]

/** The server of a URL, as lists and logs name it. */
export const targetOf = (url: string): string => new URL(url).origin

/** A key of an order as it is stored: of its value, nothing can be read. */
export function storedOrderKey(value: string): string {
  return createHash('sha256').update(value).digest('hex').slice(0, 32)
}

/** Ports that no browser connects to (Fetch standard, “port blocking”): other protocols use them. */
const BAD_PORTS = new Set([
  1, 7, 9, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102,
  103, 104, 109, 110, 111, 113, 115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465,
  512, 513, 514, 515, 526, 530, 531, 532, 540, 548, 554, 556, 563, 587, 601, 636, 989, 990, 993,
  995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668,
  6669, 6679, 6697, 10080,
])

/** Finds what is wrong with given settings. */
export function findWrongSettings(
  settings: DestinationSettings,
  policy: DestinationPolicy,
): FaultDetail[] {
  const { url, when, headers = [], order, change } = settings
  const details = findWrongRequestHeaders(headers, 'headers')
  if (change) details.push(...findWrongChange(change))
  if (url !== undefined) {
    const message = urlProblem(url, policy)
    if (message !== null) details.push({ path: 'url', message })
  }
  if (when) {
    const parsed = parseConditions(when)
    if ('wrong' in parsed) details.push(parsed.wrong)
  }
  if (order?.mode === 'key' && (!order.key || parseField(order.key) === null)) {
    const message = 'must be a field such as headers.x-id or body/id'
    details.push({ path: 'order.key', message })
  }
  return details
}

function urlProblem(text: string, { allowPrivate, ownHosts }: DestinationPolicy): string | null {
  const { url, problem } = parseUrl(text, ['https:', 'http:'])
  if (url === null) return problem
  if (url.username || url.password) return 'must not contain a user name or a password: use headers'
  if (url.hash) return 'must not contain a fragment'
  if (BAD_PORTS.has(Number(url.port))) return `must not have the port ${url.port}`
  if (url.protocol === 'http:' && allowPrivate === false)
    return 'must begin with https://: only networks of FORWARD_PRIVATE_TARGETS are reached over http://'
  // With a final dot, a name is the same one.
  if (ownHosts.has(url.host.replace(/\.(?=:|$)/, '')))
    return 'must not be an address of this service'
  try {
    refuseAddress(parseHost(url.hostname, 'url'), allowPrivate)
    return null
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    return 'must not be an address of a private network (FORWARD_PRIVATE_TARGETS)'
  }
}
