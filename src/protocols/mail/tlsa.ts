import { createHash, createPublicKey, X509Certificate, type KeyObject } from 'node:crypto'
import { whyUntrusted } from './certificate-path.ts'

/** A TLSA record (RFC 6698, 2.1). */
export type TlsaRecord = {
  usage: number
  selector: number
  matchingType: number
  /** The certificate, the key, or a digest of it. */
  certificate: Buffer
}

/** What a TLSA record is compared with. */
export type TlsaCertificate = { der: Buffer; publicKeyDer: Buffer | null }

/**
 * The result for one record. `matched`: it confirms the certificate that the server presents.
 * `mismatched`: it does not. `unusable`: mail servers ignore it.
 */
export type TlsaResult = {
  record: TlsaRecord
  status: 'matched' | 'mismatched' | 'unusable'
  /**
   * Why it is unusable, why the matching certificate does not help, or why not every sender finds
   * the match; a clause.
   */
  reason: string | null
}

/** RFC 7672, 3.1: DANE-TA(2) and DANE-EE(3) are for mail; PKIX usages 0 and 1 are not. */
export const DANE_TA = 2
const DANE_EE = 3
const CERTIFICATE = 0
const FULL = 0
const SHA_512 = 2

/** Digest lengths in bytes by matching type (RFC 6698, 2.1.3). */
const DIGESTS: Record<number, { algorithm: string; bytes: number }> = {
  1: { algorithm: 'sha256', bytes: 32 },
  2: { algorithm: 'sha512', bytes: 64 },
}

/**
 * Compares the TLSA records of a mail server with the chain that it sent (RFC 7672, 3.1). With usage
 * 2 the certificate must also be valid and for one of the names; with usage 3 neither counts.
 * @param chain the server’s certificate first, without roots that the server did not send
 * @param names the names under which senders know the server (RFC 7672, 3.2.2)
 */
export function compareTlsa(
  records: readonly TlsaRecord[],
  chain: readonly TlsaCertificate[],
  names: readonly string[],
): TlsaResult[] {
  const results = records.map((record): TlsaResult => {
    const unusable = whyUnusable(record)
    if (unusable !== null) return { record, status: 'unusable', reason: unusable }
    return { record, ...(record.usage === DANE_EE ? matchEnd : matchAnchor)(record, chain, names) }
  })
  return results.map((result) => {
    const reason = whyOutranked(result.record, results)
    return reason === null ? result : { record: result.record, status: 'unusable', reason }
  })
}

type Match = Omit<TlsaResult, 'record'>
const MATCHED: Match = { status: 'matched', reason: null }
const MISMATCHED: Match = { status: 'mismatched', reason: null }

function matchEnd(record: TlsaRecord, [leaf]: readonly TlsaCertificate[]): Match {
  return leaf && isSame(record, leaf) ? MATCHED : MISMATCHED
}

/** RFC 7671, 5.2: the record names an issuer of the server’s certificate, never that one itself. */
function matchAnchor(
  record: TlsaRecord,
  chain: readonly TlsaCertificate[],
  names: readonly string[],
): Match {
  const [leaf] = chain
  const sent = chain.map(({ der }) => new X509Certificate(der))
  const anchor = chain.findIndex((found, index) => index > 0 && isSame(record, found))
  const path = anchor > 0 ? sent.slice(0, anchor + 1) : pathToUnsent(record, sent)
  if (path) {
    const reason = whyUntrusted(path, names)
    return reason === null ? MATCHED : { status: 'mismatched', reason }
  }
  const own = leaf && isSame(record, leaf) ? OWN_CERTIFICATE : null
  const signed = signedByKey(record, sent)
  if (!signed) return { status: 'mismatched', reason: own }
  const reason = whyUntrusted(signed, names)
  if (reason !== null) return { status: 'mismatched', reason }
  return {
    status: 'matched',
    reason: own ?? 'the server does not send the certificate of this key',
  }
}

const OWN_CERTIFICATE =
  'usage 2 is for an issuer, and this is the server’s own certificate; use usage 3'

/** RFC 7671, 5.2.3: a whole certificate in the DNS need not be sent by the server as well. */
function pathToUnsent(record: TlsaRecord, sent: readonly X509Certificate[]) {
  if (record.matchingType !== FULL || record.selector !== CERTIFICATE) return null
  const anchor = new X509Certificate(record.certificate)
  const last = sent.findIndex((found) => found.checkIssued(anchor) && !found.raw.equals(anchor.raw))
  return last === -1 ? null : [...sent.slice(0, last + 1), anchor]
}

/** OpenSSL accepts a key without its certificate; RFC 7671, 5.2.3 asks servers not to rely on it. */
function signedByKey({ selector, matchingType, certificate }: TlsaRecord, sent: X509Certificate[]) {
  const key = matchingType === FULL && selector !== CERTIFICATE && publicKeyOf(certificate)
  const last = key ? sent.findIndex((found) => found.verify(key)) : -1
  return last === -1 ? null : sent.slice(0, last + 1)
}

function publicKeyOf(der: Buffer): KeyObject | null {
  try {
    return createPublicKey({ key: der, format: 'der', type: 'spki' })
  } catch {
    return null
  }
}

function whyUnusable({ usage, selector, matchingType, certificate }: TlsaRecord): string | null {
  if (usage !== DANE_TA && usage !== DANE_EE)
    return `usage ${usage} is not for mail; use 3 (or 2) instead`
  if (selector > 1) return `selector ${selector} is not defined`
  const digest = DIGESTS[matchingType]
  if (matchingType !== FULL && !digest) return `matching type ${matchingType} is not defined`
  if (digest && certificate.length !== digest.bytes)
    return `the digest has ${certificate.length} bytes instead of ${digest.bytes}`
  if (digest) return null
  if (selector === CERTIFICATE) return isCertificate(certificate) ? null : 'it has no certificate'
  return publicKeyOf(certificate) ? null : 'it has no public key'
}

function isCertificate(der: Buffer): boolean {
  try {
    return new X509Certificate(der).raw.equals(der)
  } catch {
    return false
  }
}

/**
 * RFC 7671, 9: of digests for the same usage and selector, senders use only the strongest. That
 * matters when it does not match.
 */
function whyOutranked(
  { usage, selector, matchingType }: TlsaRecord,
  results: readonly TlsaResult[],
): string | null {
  if (matchingType === FULL || matchingType === SHA_512) return null
  const stronger = results.filter(
    ({ record, status }) =>
      status !== 'unusable' &&
      record.usage === usage &&
      record.selector === selector &&
      record.matchingType === SHA_512,
  )
  if (stronger.length === 0 || stronger.some(({ status }) => status === 'matched')) return null
  return `senders prefer the record ${usage} ${selector} ${SHA_512} with a stronger digest`
}

function isSame(record: TlsaRecord, certificate: TlsaCertificate): boolean {
  const data = record.selector === CERTIFICATE ? certificate.der : certificate.publicKeyDer
  if (data === null) return false
  const digest = DIGESTS[record.matchingType]
  const wanted = digest ? createHash(digest.algorithm).update(data).digest() : data
  return wanted.equals(record.certificate)
}

/** The record that RFC 7671, 5.1 recommends: DANE-EE, public key, SHA-256. */
export function recommendedTlsa({ publicKeyDer }: TlsaCertificate): TlsaRecord | null {
  if (publicKeyDer === null) return null
  const certificate = createHash('sha256').update(publicKeyDer).digest()
  return { usage: DANE_EE, selector: 1, matchingType: 1, certificate }
}

/** A record as zone files write it: `3 1 1 0b9f…`. */
export function formatTlsa({ usage, selector, matchingType, certificate }: TlsaRecord): string {
  return `${usage} ${selector} ${matchingType} ${certificate.toString('hex')}`
}
