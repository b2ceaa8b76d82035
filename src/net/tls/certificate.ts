import { X509Certificate, type KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import type { PeerCertificate } from 'node:tls'
import { parseAddress } from '../address.ts'

/** The content of a certificate, in plain values. */
export type CertificateFacts = {
  /** The whole certificate in DER. */
  der: Buffer
  /** Its SubjectPublicKeyInfo in DER; null for a key of an unknown kind. */
  publicKeyDer: Buffer | null
  /** Attribute name to value; repeated attributes are joined, of common names the first counts. */
  subject: Record<string, string>
  issuer: Record<string, string>
  validFrom: Date
  validTo: Date
  /** Upper-case hex pairs with colons. */
  serialNumber: string
  fingerprint256: string
  /**
   * Names and addresses alone; other kinds keep their prefix (`email:`, `URI:`), and so does an
   * address as a DNS name (`DNS:192.0.2.1`), which no client accepts.
   */
  subjectAltNames: string[]
  isCa: boolean
  isSelfIssued: boolean
  /** Object identifiers; null without restriction. */
  extendedKeyUsage: string[] | null
  keyType: string | null
  keyBits: number | null
  signatureAlgorithm: string | null
}

/** Node counts the bits of RSA and EC keys only. */
const EDWARDS_BITS: Record<string, number> = { ed25519: 256, ed448: 456 }

export function certificateFacts(raw: Buffer): CertificateFacts {
  const certificate = new X509Certificate(raw)
  const legacy = certificate.toLegacyObject()
  const key = publicKeyOf(certificate)
  return {
    der: raw,
    publicKeyDer: key?.export({ type: 'spki', format: 'der' }) ?? null,
    subject: attributes(legacy.subject),
    issuer: attributes(legacy.issuer),
    validFrom: certificate.validFromDate,
    validTo: certificate.validToDate,
    serialNumber: pairs(certificate.serialNumber),
    fingerprint256: certificate.fingerprint256,
    subjectAltNames: parseAltNames(certificate.subjectAltName ?? ''),
    isCa: certificate.ca,
    isSelfIssued: certificate.subject === certificate.issuer,
    extendedKeyUsage: certificate.keyUsage ?? null,
    keyType: key?.asymmetricKeyType ?? null,
    keyBits: legacy.bits ?? EDWARDS_BITS[key?.asymmetricKeyType ?? ''] ?? null,
    signatureAlgorithm: certificate.signatureAlgorithm ?? null,
  }
}

/**
 * The leaf and its chain to a root, as far as it was found. A root from the trust store was not
 * sent by the server.
 */
export function chainOf(
  leaf: PeerCertificate & { issuerCertificate?: PeerCertificate },
): CertificateFacts[] {
  const chain: CertificateFacts[] = []
  const seen = new Set<string>()
  // A self-signed certificate is its own issuer.
  for (
    let at: typeof leaf | undefined = leaf;
    at?.raw && !seen.has(at.fingerprint256);
    at = at.issuerCertificate
  ) {
    seen.add(at.fingerprint256)
    chain.push(certificateFacts(at.raw))
  }
  return chain
}

function attributes(parts: object | undefined): Record<string, string> {
  const entries = Object.entries(parts ?? {}).map(([name, value]: [string, string | string[]]) => {
    if (!Array.isArray(value)) return [name, writeZeros(value)]
    return [name, writeZeros(name === 'CN' ? (value[0] ?? '') : value.join(', '))]
  })
  return Object.fromEntries(entries) as Record<string, string>
}

function pairs(hex: string): string {
  const even = hex.length % 2 === 0 ? hex : `0${hex}`
  return (even.toUpperCase().match(/../g) ?? []).join(':')
}

function publicKeyOf(certificate: X509Certificate): KeyObject | null {
  try {
    return certificate.publicKey
  } catch {
    // A key of a kind that this OpenSSL does not know.
    return null
  }
}

/** `DNS:a.example, IP Address:192.0.2.1, URI:"…"`: Node writes ambiguous values as JSON strings. */
export function parseAltNames(text: string): string[] {
  const entries = text.matchAll(/(?:^|, )([^:,"]+):("(?:[^"\\]|\\.)*"|[^,]*)/g)
  return Array.from(entries, ([, kind = '', written = '']) => {
    const value = written.startsWith('"') ? unquote(written) : written
    if (kind === 'DNS') return isIP(value) === 0 ? value : `DNS:${value}`
    return kind === 'IP Address' ? (parseAddress(value)?.address ?? value) : `${kind}:${value}`
  })
}

function unquote(written: string): string {
  try {
    return writeZeros(String(JSON.parse(written)))
  } catch {
    return written
  }
}

/** A zero octet as OpenSSL writes it: PostgreSQL has none in text. */
function writeZeros(text: string): string {
  return text.replaceAll('\0', '\\00')
}
