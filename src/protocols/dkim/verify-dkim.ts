import { createHash, verify } from 'node:crypto'
import type { DnsQueries } from '../dns-queries.ts'
import { fieldValues, type Message } from '../mail/message.ts'
import { canonicalBody, canonicalHeader } from './canonicalize.ts'
import { parseDkimKey, type DkimKey, type DkimService } from './dkim-key.ts'
import { readSignature, type Canonicalization, type DkimSignature } from './dkim-signature.ts'

/**
 * The result of a signature in the terms of RFC 8601, 2.7.1. `neutral`: it could not be processed.
 * `policy`: it proves too little, whether it is valid or not.
 */
export type DkimResult = 'pass' | 'fail' | 'policy' | 'neutral' | 'temperror'

/** `domain`: the one that signed; null when it cannot be read. */
export type DkimVerdict = { domain: string | null; result: DkimResult }

/** A verdict and what it rests on; null for what could not be read or found. */
export type ExaminedSignature = DkimVerdict & {
  signature: DkimSignature | null
  key: DkimKey | null
}

/** RFC 8301, 3.2. */
const MIN_RSA_BITS = 1024

/** Verifies each DKIM signature of a mail, in their order (RFC 6376, 6.1; RFC 8301; RFC 8463). */
export async function verifyDkim(message: Message, queries: DnsQueries): Promise<DkimVerdict[]> {
  const examined = await examineSignatures(message, queries)
  return examined.map(({ domain, result }) => ({ domain, result }))
}

/**
 * Verifies as `verifyDkim` does, and keeps each signature and the key that decided.
 * @param most signatures that are verified, from the top; the others are left out
 */
export async function examineSignatures(
  message: Message,
  queries: DnsQueries,
  now = Date.now(),
  most = Infinity,
): Promise<ExaminedSignature[]> {
  const service = isTlsReport(message) ? 'tlsrpt' : 'email'
  const hashBody = createBodyHasher(message.body)
  const fields = message.fields.filter(({ name }) => name === 'dkim-signature').slice(0, most)
  return Promise.all(
    fields.map(async (field) => {
      const signature = readSignature(field)
      const [domain, key] = [signature?.domain ?? null, null]
      if (!signature || (signature.expires ?? Infinity) < now / 1000)
        return { domain, result: 'neutral' as const, signature, key }
      const early = checkAlgorithm(signature) ?? checkBody(signature, hashBody)
      if (early) return { domain, result: early, signature, key }
      const input = canonicalHeader(message.fields, signature)
      return { domain, signature, ...(await checkKeys(signature, input, service, queries)) }
    }),
  )
}

/** A mail with an SMTP TLS report (RFC 8460, 5.3), which has keys of its own. */
function isTlsReport(message: Message): boolean {
  return (
    fieldValues(message, 'content-type').some((type) => /report-type="?tlsrpt\b/i.test(type)) ||
    /^content-type:[ \t]*application\/tlsrpt\+/im.test(message.body)
  )
}

/** The hash and the length of the body by canonicalization, each computed once. */
type BodyHasher = (canonicalization: Canonicalization) => { hash: string; length: number }

function createBodyHasher(body: string): BodyHasher {
  const known = new Map<Canonicalization, ReturnType<BodyHasher>>()
  return (canonicalization) => {
    const text = known.has(canonicalization) ? '' : canonicalBody(body, canonicalization)
    const hashed = known.get(canonicalization) ?? {
      hash: createHash('sha256').update(text, 'latin1').digest('base64'),
      length: text.length,
    }
    known.set(canonicalization, hashed)
    return hashed
  }
}

/** RFC 8301, 3.1: rsa-sha1 proves nothing any more. */
function checkAlgorithm({ keyType, hash }: DkimSignature): DkimResult | null {
  if (keyType === 'rsa' && hash === 'sha1') return 'policy'
  return (keyType === 'rsa' || keyType === 'ed25519') && hash === 'sha256' ? null : 'neutral'
}

function checkBody(signature: DkimSignature, hashBody: BodyHasher): DkimResult | null {
  const { hash, length } = hashBody(signature.canonicalization.body)
  // RFC 6376, 3.5: `l` must not be larger than the body. Behind a smaller one stands text of
  // anyone, which may be the whole report (8.2).
  if (signature.length !== null && signature.length !== length)
    return signature.length > length ? 'neutral' : 'policy'
  return signature.bodyHash === hash ? null : 'fail'
}

/** RFC 6376, 6.1.2: of several records at the selector, any may be the key. */
async function checkKeys(
  signature: DkimSignature,
  input: string,
  service: DkimService,
  queries: DnsQueries,
): Promise<{ result: DkimResult; key: DkimKey | null }> {
  const { selector, domain } = signature
  const { texts, error } = await queries.lookUpTxt(`${selector}._domainkey.${domain}`)
  if (error) return { result: 'temperror', key: null }
  const results = texts
    .map((text) => parseDkimKey(text, service))
    .map((key) => ({ result: key ? checkKey(key, signature, input) : ('neutral' as const), key }))
  return (
    results.find(({ result }) => result === 'pass') ??
    results[0] ?? { result: 'neutral', key: null }
  )
}

export function checkKey(
  key: DkimKey,
  signature: Pick<DkimSignature, 'keyType' | 'domain' | 'identity' | 'signature'>,
  input: string,
): DkimResult {
  const { keyType, domain, identity } = signature
  const isApplicable = key.keyType === keyType && !(key.strict && identity !== domain)
  if (!key.publicKey || key.errors.length > 0 || !isApplicable) return 'neutral'
  if (keyType === 'rsa' && (key.bits ?? 0) < MIN_RSA_BITS) return 'policy'
  const bytes = Buffer.from(input, 'latin1')
  const value = Buffer.from(signature.signature, 'base64')
  // RFC 8463, 3: Ed25519 signs the hash of the input.
  const isValid =
    keyType === 'rsa'
      ? verify('sha256', bytes, key.publicKey, value)
      : verify(null, createHash('sha256').update(bytes).digest(), key.publicKey, value)
  return isValid ? 'pass' : 'fail'
}
