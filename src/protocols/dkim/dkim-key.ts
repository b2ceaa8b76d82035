import { createPublicKey, type KeyObject } from 'node:crypto'
import { cleanText } from '../damaged-text.ts'
import { DKIM_TAGS, listItems, parseTagList, valueOf, type Tag, type TagList } from '../tag-list.ts'

/** A DKIM key record (RFC 6376, 3.6.1). */
export type DkimKey = {
  text: string
  tags: Tag[]
  /** `k`: `rsa` when it is not given. */
  keyType: string
  /** Null when it cannot be read, or was withdrawn. */
  publicKey: KeyObject | null
  /** Length of the key (RSA: of its modulus); null when the key cannot be read. */
  bits: number | null
  /** An empty `p`: the key was withdrawn. */
  revoked: boolean
  /** `t=y`: the domain is trying DKIM out, and receivers are asked to ignore failures. */
  testing: boolean
  /** `t=s`: the signature's identity may not be in a subdomain. */
  strict: boolean
  /** Hash algorithms that are accepted; null: all. */
  hashes: string[] | null
  /** Errors for which receivers reject the key. */
  errors: string[]
  /** The same key without errors, where only the writing of the record is wrong. */
  mended: string | null
}

/** What a key is for (`s`). RFC 8460, 3: mail with SMTP TLS reports may have keys of its own. */
export type DkimService = 'email' | 'tlsrpt'

/**
 * Reads a TXT record found below `_domainkey`; null when it is no key record.
 * @param service of the mail that it is to verify
 */
export function parseDkimKey(text: string, service: DkimService = 'email'): DkimKey | null {
  // Most texts at hundreds of names are of other kinds, and may be long.
  if (!/p[ \t\r\n]*=|DKIM/i.test(text)) return null
  const list = parseTagList(text, DKIM_TAGS)
  const [version, p] = [valueOf(list.tags, 'v'), valueOf(list.tags, 'p')]
  if (!isMeantAsKey(text, version, p)) return null
  const key = readKeyRecord(text, list, service)
  return key.errors.length === 0 ? key : { ...key, mended: mendKey(text, list, service) }
}

/** A record with another version is of another protocol; a damaged version is a mistake. */
function isMeantAsKey(text: string, version: string | undefined, p: string | undefined): boolean {
  if (version === undefined && p !== undefined) return true
  return (
    /^DKIM1$/i.test(version ?? '') ||
    /^\W*v ?[=:] ?DKIM[\W_]*1/i.test(cleanText(text.slice(0, 100)))
  )
}

function readKeyRecord(text: string, { tags, errors }: TagList, service: DkimService): DkimKey {
  const version = valueOf(tags, 'v')
  const keyType = valueOf(tags, 'k')?.toLowerCase() ?? 'rsa'
  const data = valueOf(tags, 'p')?.replaceAll(/[ \t]/g, '')
  const key = data ? readKey(data, keyType) : null
  const flags = words(valueOf(tags, 't')) ?? []
  return {
    text,
    tags,
    keyType,
    publicKey: key,
    bits: key && bitsOf(key),
    revoked: data === '',
    testing: flags.includes('y'),
    strict: flags.includes('s'),
    hashes: words(valueOf(tags, 'h')),
    mended: null,
    errors: [
      // RFC 6376, 3.2: a duplicate tag makes the whole list invalid.
      ...errors.map(({ message, at }) => `at character ${at + 1}, ${message}`),
      ...versionFaults(version, tags),
      ...keyErrors(keyType, data, key),
      ...useErrors(words(valueOf(tags, 'h')), words(valueOf(tags, 's')), service),
    ],
  }
}

/** RFC 6376, 3.6.1: the version is compared as a string, so `DKIM1.0` is another one. */
function versionFaults(version: string | undefined, tags: Tag[]): string[] {
  const faults: string[] = []
  if (version !== undefined && version !== 'DKIM1')
    faults.push('the version must be exactly `v=DKIM1`')
  if (version !== undefined && tags[0]?.name !== 'v') faults.push('`v` must come first')
  return faults
}

/**
 * The record with its syntax repaired.
 * @returns null when the key stays invalid, or when the text has several
 */
function mendKey(text: string, { tags, repeated }: TagList, service: DkimService): string | null {
  const isAmbiguous = repeated.some(({ name, value }) => valueOf(tags, name) !== value)
  if (isAmbiguous || text.length > MAX_KEY_BYTES * 2) return null
  const meant = parseTagList(cleanText(text), DKIM_TAGS)
  const others = meant.tags.filter(({ name }) => name !== 'v')
  const plain = (tag: Tag) => (tag.name === 'p' ? tag.value.replaceAll(' ', '') : tag.value)
  const value = ['v=DKIM1', ...others.map((tag) => `${tag.name}=${plain(tag)}`)].join('; ')
  const { errors } = readKeyRecord(value, parseTagList(value, DKIM_TAGS), service)
  return errors.length === 0 ? value : null
}

function words(list: string | undefined): string[] | null {
  return list === undefined ? null : listItems(list.toLowerCase(), ':')
}

function keyErrors(keyType: string, data: string | undefined, key: KeyObject | null): string[] {
  if (data === undefined) return ['there is no key (`p`)']
  if (keyType !== 'rsa' && keyType !== 'ed25519')
    return [`“${keyType.slice(0, 20)}” is not a DKIM key type`]
  if (data === '' || key) return []
  if (!isBase64(data))
    return ['the key (`p`) is not Base64; it may be truncated or contain other characters']
  return keyType === 'rsa'
    ? ['the key (`p`) is not an RSA public key; it may be truncated']
    : [
        'an Ed25519 key (`p`) must be the Base64 of exactly 32 bytes, without ASN.1 wrapping (RFC 8463)',
      ]
}

function useErrors(
  hashes: string[] | null,
  services: string[] | null,
  service: DkimService,
): string[] {
  const errors: string[] = []
  if (hashes && !hashes.includes('sha256'))
    errors.push('it does not accept sha256, the only hash in use (RFC 8301)')
  if (services && !['*', 'email', service].some((name) => services.includes(name)))
    errors.push('it is not meant for email (`s`)')
  return errors
}

function isBase64(text: string): boolean {
  return /^[a-z\d+/]+={0,2}$/i.test(text)
}

/** RFC 8463, 4: Ed25519 keys are published without the wrapping that Node.js expects. */
const ED25519_SPKI = Buffer.from('302a300506032b6570032100', 'hex')
/** The longest key in use has 8192 bits. */
const MAX_KEY_BYTES = 4096

function readKey(data: string, keyType: string): KeyObject | null {
  const bytes = Buffer.from(data, 'base64')
  if (!isBase64(data) || bytes.length > MAX_KEY_BYTES) return null
  if (keyType === 'ed25519')
    return bytes.length === 32 ? tryKey(Buffer.concat([ED25519_SPKI, bytes]), 'spki') : null
  // RFC 6376, 3.6.1 says PKCS #1; in practice, SPKI is published.
  const key = tryKey(bytes, 'spki') ?? tryKey(bytes, 'pkcs1')
  return key?.asymmetricKeyType === 'rsa' ? key : null
}

function tryKey(key: Buffer, type: 'spki' | 'pkcs1'): KeyObject | null {
  try {
    return createPublicKey({ key, format: 'der', type })
  } catch {
    return null
  }
}

function bitsOf(key: KeyObject): number {
  return key.asymmetricKeyDetails?.modulusLength ?? 256
}
