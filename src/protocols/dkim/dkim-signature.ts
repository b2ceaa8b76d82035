import { domainNameOf, unfold, type HeaderField } from '../mail/message.ts'
import { SIGNATURE_TAGS, parseTagList, valueOf } from '../tag-list.ts'

/** How far a mail may change on its way (RFC 6376, 3.4). */
export type Canonicalization = 'simple' | 'relaxed'

/** A DKIM-Signature field (RFC 6376, 3.5) that a verifier can work with. */
export type DkimSignature = {
  field: HeaderField
  /** The two parts of `a`, as `rsa` and `sha256`. */
  keyType: string
  hash: string
  canonicalization: { header: Canonicalization; body: Canonicalization }
  /** `d` as an A-label, in lower case. */
  domain: string
  /** The domain of `i`. */
  identity: string
  selector: string
  /** `h`, in lower case. */
  signedFields: string[]
  /** `bh` and `b`. */
  bodyHash: string
  signature: string
  /** Octets of the canonicalized body that are signed; null: all. */
  length: number | null
  /** Seconds since 1970; null: it does not expire. */
  expires: number | null
}

/** RFC 5322, 3.6.8. */
const FIELD_NAME = /^[!-9;-~]+$/

type Tags = (name: string) => string | undefined

/** @returns null for a field that a verifier must ignore (RFC 6376, 6.1.1) */
export function readSignature(field: HeaderField): DkimSignature | null {
  const { tags, errors } = parseTagList(
    unfold(field.raw.slice(field.raw.indexOf(':') + 1)),
    SIGNATURE_TAGS,
  )
  const tag: Tags = (name) => valueOf(tags, name)
  const domain = domainNameOf(tag('d'))
  const identity = identityOf(tag('i'), domain)
  const selector = domainNameOf(tag('s'))
  const canonicalization = canonicalizationOf(tag('c'))
  const signedFields = wordsOf(tag('h'))
  const [bodyHash, signature] = [base64Of(tag('bh')), base64Of(tag('b'))]
  const isReadable = errors.length === 0 && tag('v') === '1' && hasNumbers(tag)
  if (!isReadable || !domain || !identity || !selector || !canonicalization) return null
  if (!bodyHash || !signature) return null
  if (!signedFields.includes('from') || !signedFields.every((name) => FIELD_NAME.test(name)))
    return null
  // RFC 6376, 3.5: other query methods than this one are unknown.
  if (!wordsOf(tag('q') ?? 'dns/txt').includes('dns/txt')) return null
  const [keyType = '', hash = ''] = (tag('a') ?? '').toLowerCase().split(/-(.*)/s)
  return {
    field,
    keyType,
    hash,
    canonicalization,
    domain,
    identity,
    selector,
    signedFields,
    bodyHash,
    signature,
    length: numberOf(tag('l')),
    expires: numberOf(tag('x')),
  }
}

/** `t`, `x` and `l` by their grammar; a signature expires after it was made. */
function hasNumbers(tag: Tags): boolean {
  const [t, x] = [numberOf(tag('t')), numberOf(tag('x'))]
  return (
    /^\d{1,12}$/.test(tag('t') ?? '0') &&
    /^\d{1,12}$/.test(tag('x') ?? '0') &&
    /^\d{1,76}$/.test(tag('l') ?? '0') &&
    (t === null || x === null || x > t)
  )
}

function numberOf(digits: string | undefined): number | null {
  return digits === undefined ? null : Number(digits)
}

/** RFC 6376, 6.1.1: it must lie in the signing domain, which it is when it is not given. */
function identityOf(i: string | undefined, domain: string | null): string | null {
  if (i === undefined || domain === null) return domain
  const identity = domainNameOf(/@([^@]*)$/.exec(i)?.[1])
  return identity === domain || identity?.endsWith(`.${domain}`) ? identity : null
}

function canonicalizationOf(c = 'simple'): DkimSignature['canonicalization'] | null {
  const [header, body = 'simple', ...others] = c.toLowerCase().split('/')
  return isKnown(header) && isKnown(body) && others.length === 0 ? { header, body } : null
}

function isKnown(canonicalization = ''): canonicalization is Canonicalization {
  return canonicalization === 'simple' || canonicalization === 'relaxed'
}

/** The words of a list with colons, around which white space may stand. */
function wordsOf(list = ''): string[] {
  return list.toLowerCase().split(/[ \t]*:[ \t]*/)
}

/** White space may stand anywhere in it; null for anything else than Base64. */
function base64Of(text = ''): string | null {
  const base64 = text.replaceAll(/[ \t]/g, '')
  return /^[a-z\d+/]+={0,2}$/i.test(base64) ? base64 : null
}
