import { createHmac, timingSafeEqual, type Hmac } from 'node:crypto'
import { deriveKey } from './derive-key.ts'

/** The parts of what a token is about, in their order. A text is the last one. */
type Fields = Record<string, 'uuid' | 'text'>

type TokenDefinition<F extends Fields> = {
  /** Separates its key from those of other tokens. */
  purpose: string
  fields: F
  macBytes: number
  /** Hexadecimal where a chat would read characters of base64url as markup. */
  encoding: 'base64url' | 'hex'
  /** Seconds after which a token expires; without it, never. */
  lifetime?: number
  /** The signature of earlier versions: their links are still in mailboxes. */
  earlierMac: (key: string, content: Buffer) => Hmac
}

type Values<F extends Fields> = { [Name in keyof F]: string }

/** Tokens that allow one thing, without a login, and show that this service made them. */
export type SignedToken<V> = {
  /** @param now milliseconds since 1970 */
  create(key: string, values: V, now?: number): string
  /**
   * What a token is about; null when it is not one of ours.
   * @param keys the current key, and earlier ones that are still valid
   */
  read(keys: readonly string[], token: string, now?: number): (V & { isExpired: boolean }) | null
}

const UUID_BYTES = 16
const TIME_BYTES = 4

/** Defines tokens: their fields, the time at which they expire, and an HMAC-SHA256 of both. */
export function defineSignedToken<F extends Fields>(
  definition: TokenDefinition<F>,
): SignedToken<Values<F>> {
  const { purpose, fields, macBytes, encoding, lifetime, earlierMac } = definition
  const names = Object.entries(fields)
  const timeBytes = lifetime === undefined ? 0 : TIME_BYTES
  const uuids = names.filter(([, kind]) => kind === 'uuid').length
  const least = uuids * UUID_BYTES + timeBytes + macBytes
  const hasText = uuids < names.length

  const macOf = (key: string, content: Buffer) =>
    createHmac('sha256', deriveKey(key, purpose)).update(content)
  const cut = (mac: Hmac) => mac.digest().subarray(0, macBytes)
  const isOurs = (key: string, content: Buffer, mac: Buffer) =>
    [macOf, earlierMac].some((sign) => timingSafeEqual(mac, cut(sign(key, content))))

  return {
    create(key, values, now = Date.now()) {
      const parts = names.map(([name, kind]) =>
        kind === 'uuid'
          ? Buffer.from(values[name]!.replaceAll('-', ''), 'hex')
          : Buffer.from(values[name]!),
      )
      const expiry = Buffer.alloc(timeBytes)
      if (lifetime !== undefined) expiry.writeUInt32BE(Math.floor(now / 1000) + lifetime)
      const content = Buffer.concat([...parts, expiry])
      return Buffer.concat([content, cut(macOf(key, content))]).toString(encoding)
    },
    read(keys, token, now = Date.now()) {
      const bytes = Buffer.from(token, encoding)
      if (hasText ? bytes.length <= least : bytes.length !== least) return null
      const [content, mac] = [bytes.subarray(0, -macBytes), bytes.subarray(-macBytes)]
      if (!keys.some((key) => isOurs(key, content, mac))) return null
      const values: Record<string, string | boolean> = {}
      const end = content.length - timeBytes
      for (const [index, [name, kind]] of names.entries()) {
        const from = index * UUID_BYTES
        values[name] =
          kind === 'uuid'
            ? uuidOf(content.subarray(from, from + UUID_BYTES))
            : content.subarray(from, end).toString()
      }
      const isExpired = lifetime !== undefined && content.readUInt32BE(end) * 1000 <= now
      return { ...values, isExpired } as Values<F> & { isExpired: boolean }
    },
  }
}

function uuidOf(bytes: Buffer): string {
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}
