import type { CertificateFacts } from '../../net/tls/certificate.ts'
import type { TlsFacts } from '../../net/tls/probe-tls.ts'
import { DAY_MS } from '../../time.ts'

/** Days before the end at which a certificate that renews itself should have done so. */
const RENEWAL_DAYS = 30
const URGENT_RENEWAL_DAYS = 14
const MAX_NAMES_SHOWN = 5

/** Whole days until a moment, rounded down. */
export function daysUntil(moment: Date): number {
  return Math.floor((moment.getTime() - Date.now()) / DAY_MS)
}

/** Lists present and approaching problems of a server’s TLS, with their fixes. */
export function tlsWarnings(host: string, facts: TlsFacts): string[] {
  const [leaf] = facts.chain
  return [
    ...timeWarnings(leaf),
    ...nameWarnings(host, leaf, facts.hostnameMatches),
    ...trustWarnings(facts),
    ...facts.chain.flatMap(strengthWarnings),
    ...protocolWarnings(facts),
  ]
}

const day = (date: Date) => date.toISOString().slice(0, 10)

function timeWarnings({ validFrom, validTo }: CertificateFacts): string[] {
  const days = daysUntil(validTo)
  if (validTo.getTime() < Date.now())
    return [`The certificate expired on ${day(validTo)}. Renew it.`]
  if (validFrom.getTime() > Date.now()) {
    return [`The certificate is not valid before ${day(validFrom)}. Check the clock of its issuer.`]
  }
  if (days >= RENEWAL_DAYS) return []
  const left = days === 1 ? '1 day' : `${days} days`
  const advice =
    days < URGENT_RENEWAL_DAYS
      ? 'Renew it now.'
      : 'Automatic renewal should have replaced it by now.'
  return [`The certificate expires in ${left}, on ${day(validTo)}. ${advice}`]
}

function nameWarnings(
  host: string,
  { subject, subjectAltNames }: CertificateFacts,
  matches: boolean,
): string[] {
  if (matches && subjectAltNames.length > 0) return []
  if (matches)
    return ['The certificate has the host only in its common name, which browsers ignore.']
  const names =
    subjectAltNames.length > 0 ? subjectAltNames : Object.values({ CN: subject.CN ?? 'no name' })
  const more = names.length > MAX_NAMES_SHOWN ? ` and ${names.length - MAX_NAMES_SHOWN} more` : ''
  return [
    `The certificate is not for ${host}. It is for ${names.slice(0, MAX_NAMES_SHOWN).join(', ')}${more}.`,
  ]
}

function trustWarnings({ isTrusted, trustError, chain }: TlsFacts): string[] {
  const last = chain.at(-1)
  if (isTrusted || !last) return []
  if (!last.isSelfIssued) {
    const sender =
      chain.length === 1
        ? 'only its own certificate'
        : `a chain that ends at ${nameOf(last.subject)}`
    return [
      `The server sends ${sender}, and its issuer ${nameOf(last.issuer)} is not a known root. Install the full chain (fullchain.pem): browsers may fetch missing certificates, but mail servers and programs do not.`,
    ]
  }
  if (chain.length === 1) return ['The certificate is self-signed, so clients do not trust it.']
  if (trustError !== 'SELF_SIGNED_CERT_IN_CHAIN') return []
  return [
    `The chain ends at ${nameOf(last.subject)}, which is not a trusted root. Add private roots with NODE_EXTRA_CA_CERTS.`,
  ]
}

function nameOf(attributes: Record<string, string>): string {
  return `“${attributes.CN ?? attributes.OU ?? attributes.O ?? 'unnamed'}”`
}

const MIN_BITS: Record<string, number> = { rsa: 2048, dsa: 2048, ec: 224 }

function strengthWarnings(link: CertificateFacts): string[] {
  const { keyType, keyBits, signatureAlgorithm, isSelfIssued, subject } = link
  const warnings: string[] = []
  if (keyBits !== null && keyBits < (MIN_BITS[keyType ?? ''] ?? 0)) {
    warnings.push(
      `The key of ${nameOf(subject)} has only ${keyBits} bits. Use 2048 (RSA) or 256 (EC).`,
    )
  }
  // The signature of a root is never verified.
  if (!isSelfIssued && /sha-?1(?!\d)|md5/i.test(signatureAlgorithm ?? '')) {
    warnings.push(
      `${nameOf(subject)} is signed with ${signatureAlgorithm}, which is insecure. Reissue it.`,
    )
  }
  return warnings
}

function protocolWarnings({ protocol, isOutdated }: TlsFacts): string[] {
  if (['SSLv3', 'TLSv1', 'TLSv1.1'].includes(protocol)) {
    return [
      `The server supports only ${protocol}, which current software rejects. Enable TLS 1.2 and 1.3.`,
    ]
  }
  return isOutdated
    ? ['The handshake succeeds only with ciphers or key sizes that current software rejects.']
    : []
}
