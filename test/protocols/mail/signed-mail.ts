import { createHash, generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import {
  authenticateMail,
  type Authentication,
} from '../../../src/protocols/mail/mail-authentication.ts'
import { mapResolver } from '../../resolver.ts'

/** A mail that is signed as its tags say, by code of the tests alone. */
export type SignedMail = {
  /** Header fields; those of a usual report mail otherwise. */
  fields?: string[]
  body?: string
  signatures?: SignatureSpec[]
  /** Replacements in the finished mail, as someone on its way could make them. */
  changes?: [from: string, to: string][]
}

export type SignatureSpec = {
  key?: keyof typeof KEYS
  /** Tags that differ from the usual ones; null leaves one out. */
  tags?: Record<string, string | null>
  /** Where folds stand in the field: after each semicolon, and every 20 characters of `b`. */
  isFolded?: boolean
}

const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength })

/** Each is made at its first use. */
const KEYS = {
  rsa: once(() => rsa(2048)),
  other: once(() => rsa(2048)),
  rsa1024: once(() => rsa(1024)),
  rsa1016: once(() => rsa(1016)),
  rsa512: once(() => rsa(512)),
  ed25519: once(() => generateKeyPairSync('ed25519')),
}

function once<T>(make: () => T): () => T {
  let made: T | undefined
  return () => (made ??= make())
}

/** The `p` of a key record. */
export function publicKeyOf(name: keyof typeof KEYS): string {
  const spki = KEYS[name]().publicKey.export({ type: 'spki', format: 'der' })
  // RFC 8463, 4: without the wrapping.
  return (name === 'ed25519' ? spki.subarray(-32) : spki).toString('base64')
}

export const FIELDS = [
  'From: Reports <noreply@r.test>',
  'To: reports@portreeve.test',
  'Subject: Report  Domain:\texample.test ',
  'Date: Sat, 21 Nov 2026 06:00:00 +0000',
]

export const BODY = 'A report.  \r\n\r\n  With\t\tblanks. \r\n\r\n \r\n'

/** The mail with its signatures on top, in their order. */
export function signedMail({
  fields = FIELDS,
  body = BODY,
  signatures = [{}],
  changes = [],
}: SignedMail): string {
  const signed = signatures.map((spec) => signatureField(fields, body, spec))
  const mail = [...signed, ...fields, '', body].join('\r\n')
  return changes.reduce((text, [from, to]) => text.replace(from, to), mail)
}

function signatureField(fields: string[], body: string, spec: SignatureSpec): string {
  const { key = 'rsa', tags = {}, isFolded = false } = spec
  const { a = key === 'ed25519' ? 'ed25519-sha256' : 'rsa-sha256', c = 'relaxed/relaxed' } = tags
  const usual = { v: '1', a, c, d: 'r.test', s: 's1', h: 'from:to:subject:date' }
  const hash = a?.endsWith('sha1') ? 'sha1' : 'sha256'
  const [header = 'simple', bodyForm = 'simple'] = (c ?? 'simple').toLowerCase().split('/')
  const hashed = relaxOrNot(body, bodyForm)
  const part = /^\d{1,9}$/.test(tags['l'] ?? '') ? hashed.slice(0, Number(tags['l'])) : hashed
  const all = { ...usual, bh: createHash(hash).update(part, 'latin1').digest('base64'), ...tags }
  const written = Object.entries(all).filter(([, value]) => value !== null)
  const separator = isFolded ? ';\r\n\t' : '; '
  const unsigned = `DKIM-Signature: ${written.map((tag) => tag.join('=')).join(separator)}${separator}b=`
  const names = (all.h ?? '').toLowerCase().split(':')
  const left = [...fields]
  const chosen = names.flatMap((name) => {
    const at = left.findLastIndex((field) => nameOf(field) === name.trim())
    return at < 0 ? [] : left.splice(at, 1)
  })
  const form = header === 'relaxed' ? relaxField : (field: string) => field
  const input = [...chosen.map(form), form(unsigned)].join('\r\n')
  const value = signText(input, hash, KEYS[key]().privateKey)
  return unsigned + (isFolded ? value.replaceAll(/.{20}/g, '$&\r\n  ') : value)
}

function signText(text: string, hash: string, key: KeyObject): string {
  const bytes = Buffer.from(text, 'latin1')
  const isEd25519 = key.asymmetricKeyType === 'ed25519'
  const input = isEd25519 ? createHash('sha256').update(bytes).digest() : bytes
  return sign(isEd25519 ? null : hash, input, key).toString('base64')
}

function nameOf(field: string): string {
  return (field.split(':')[0] ?? '').trim().toLowerCase()
}

/** RFC 6376, 3.4.2, step by step. */
function relaxField(field: string): string {
  const value = field.slice(field.indexOf(':') + 1)
  const words = value.split(/[\r\n\t ]+/).filter((word) => word !== '')
  return `${nameOf(field)}:${words.join(' ')}`
}

/** RFC 6376, 3.4.3 and 3.4.4, line by line. */
function relaxOrNot(body: string, form: string): string {
  const lines = body.split('\r\n')
  const kept =
    form === 'relaxed'
      ? lines.map((line) => line.replace(/[\t ]+$/, '').replace(/[\t ]+/g, ' '))
      : lines
  while (kept.at(-1) === '') kept.pop()
  if (kept.length === 0) return form === 'relaxed' ? '' : '\r\n'
  return `${kept.join('\r\n')}\r\n`
}

export type Delivery = {
  /** Records besides those of `r.test`, which has `p=reject` and permits no server. */
  records?: Record<string, string[]>
  failures?: Record<string, 'SERVFAIL' | 'TIMEOUT'>
  /** The key record at `s1._domainkey.r.test`; `{rsa}` and so on stand for the `p` of a key. */
  key?: string | string[]
  sender?: string
}

/** Authenticates a mail from 127.0.0.1, as the SMTP server for reports does. */
export function authenticate(mail: string, delivery: Delivery = {}): Promise<Authentication> {
  const { records = {}, failures = {}, sender = 'bounces@r.test' } = delivery
  const keys = [delivery.key ?? 'v=DKIM1; p={rsa}'].flat()
  const zone: Record<string, string[]> = {
    'r.test A': ['192.0.2.1'],
    'r.test TXT': ['v=spf1 -all'],
    '_dmarc.r.test TXT': ['v=DMARC1; p=reject'],
    ...(delivery.key !== '' && { 's1._domainkey.r.test TXT': keys }),
    ...records,
  }
  const filled = Object.fromEntries(
    Object.entries(zone).map(([name, texts]) => [name, texts.map(withKeys)]),
  )
  const envelope = { ip: '127.0.0.1', helo: 'mail.r.test', sender }
  const resolver = mapResolver(filled, failures)
  return authenticateMail(
    Buffer.from(mail, 'latin1'),
    envelope,
    resolver,
    AbortSignal.timeout(30_000),
  )
}

function withKeys(text: string): string {
  return text.replaceAll(/\{(\w+)\}/g, (_, name: string) => publicKeyOf(name as keyof typeof KEYS))
}
