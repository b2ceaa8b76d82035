import { createHash, X509Certificate } from 'node:crypto'

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
  /** Why it is unusable, or why the matching issuer does not help; a clause. */
  reason: string | null
}

/** RFC 7672, 3.1: DANE-TA(2) and DANE-EE(3) are for mail; PKIX usages 0 and 1 are not. */
const DANE_TA = 2
const DANE_EE = 3

/** Digest lengths in bytes by matching type (RFC 6698, 2.1.3). */
const DIGESTS: Record<number, { algorithm: string; bytes: number }> = {
  1: { algorithm: 'sha256', bytes: 32 },
  2: { algorithm: 'sha512', bytes: 64 },
}

/**
 * Compares a TLSA record with the chain that a mail server sent (RFC 7672, 3.1). With usage 2 the
 * certificate must also be valid and for one of the names; with usage 3 neither counts.
 * @param chain the server’s certificate first, without roots that the server did not send
 * @param names the names under which senders know the server (RFC 7672, 3.2.2)
 */
export function compareTlsa(
  record: TlsaRecord,
  chain: readonly TlsaCertificate[],
  names: readonly string[],
): TlsaResult {
  const unusable = whyUnusable(record)
  if (unusable !== null) return { record, status: 'unusable', reason: unusable }
  const anchor = chain.findIndex((found) => isSame(record, found))
  if (anchor === -1 || (record.usage === DANE_EE && anchor > 0))
    return { record, status: 'mismatched', reason: null }
  const reason = record.usage === DANE_TA ? whyUntrusted(chain.slice(0, anchor + 1), names) : null
  return { record, status: reason === null ? 'matched' : 'mismatched', reason }
}

/** Why a chain to its own trust anchor does not pass (RFC 7672, 3.1.2). Null when it does. */
function whyUntrusted(chain: readonly TlsaCertificate[], names: readonly string[]): string | null {
  const [leaf, ...issuers] = chain.map(({ der }) => new X509Certificate(der))
  if (!leaf) return 'the server sent no certificate'
  if (!names.some((name) => leaf.checkHost(name) !== undefined))
    return `the certificate is not for ${names[0]}`
  const now = new Date()
  const path = [leaf, ...issuers]
  if (path.some(({ validFromDate, validToDate }) => now < validFromDate || now > validToDate))
    return 'a certificate of the chain is not valid now'
  const isBroken = issuers.some((issuer, index) => !path[index]?.verify(issuer.publicKey))
  return isBroken ? 'the signatures of the chain are not valid' : null
}

function whyUnusable({ usage, selector, matchingType, certificate }: TlsaRecord): string | null {
  if (usage !== DANE_TA && usage !== DANE_EE)
    return `usage ${usage} is not for mail; use 3 (or 2) instead`
  if (selector > 1) return `selector ${selector} is not defined`
  const digest = DIGESTS[matchingType]
  if (matchingType !== 0 && !digest) return `matching type ${matchingType} is not defined`
  if (digest && certificate.length !== digest.bytes)
    return `the digest has ${certificate.length} bytes instead of ${digest.bytes}`
  return null
}

function isSame(record: TlsaRecord, certificate: TlsaCertificate): boolean {
  const data = record.selector === 0 ? certificate.der : certificate.publicKeyDer
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
