import type { CertificateFacts } from '../../net/tls/certificate.ts'
import type { TlsFacts } from '../../net/tls/probe-tls.ts'
import { MAX_NAMES_SHOWN, nameOf, trustReasons, WEAK_REASONS } from '../../net/tls/trust-reasons.ts'
import { endOf } from '../../net/tls/trusted-path.ts'
import { DAY_MS, isoDay } from '../../time.ts'

/** Days before the end at which a certificate that renews itself should have done so. */
const RENEWAL_DAYS = 30
const URGENT_RENEWAL_DAYS = 14

/** Whole days until a moment, rounded down. */
export function daysUntil(moment: Date): number {
  return Math.floor((moment.getTime() - Date.now()) / DAY_MS)
}

/**
 * Lists present and approaching problems of a server’s TLS, with their fixes. Never empty for a
 * certificate that is not trusted, or not for the host.
 */
export function tlsWarnings(host: string, facts: TlsFacts): string[] {
  const weak = facts.chain.flatMap(strengthWarnings)
  // `weak` names the certificate.
  const isKnown = (reason: string) => weak.length > 0 && WEAK_REASONS.has(reason)
  return [
    ...timeWarnings(facts),
    ...nameWarnings(host, facts),
    ...trustReasons(facts).filter((reason) => !isKnown(reason)),
    ...weak,
    ...protocolWarnings(facts),
  ]
}

/** What is invalid now; else what ends first, if soon. */
function timeWarnings({ path }: TlsFacts): string[] {
  const invalid = path.flatMap((link) => validityProblem(link, roleIn(path, link)))
  return invalid.length > 0 ? invalid : expiryWarnings(path)
}

function validityProblem({ validFrom, validTo }: CertificateFacts, { what, fix }: Role): string[] {
  if (validTo.getTime() < Date.now()) return [`${what} expired on ${isoDay(validTo)}. ${fix}`]
  if (validFrom.getTime() > Date.now())
    return [`${what} is not valid before ${isoDay(validFrom)}. Check the clock of its issuer.`]
  return []
}

function expiryWarnings(path: TlsFacts['path']): string[] {
  const [leaf] = path
  const first = endOf(path)
  const days = daysUntil(first.validTo)
  if (days >= RENEWAL_DAYS) return []
  const left = days === 1 ? '1 day' : `${days} days`
  const { what, fix } = roleIn(path, first)
  const renewal =
    days < URGENT_RENEWAL_DAYS
      ? 'Renew it now.'
      : 'Automatic renewal should have replaced it by now.'
  return [
    `${what} expires in ${left}, on ${isoDay(first.validTo)}. ${first === leaf ? renewal : fix}`,
  ]
}

type Role = { what: string; fix: string }

function roleIn([leaf]: TlsFacts['path'], link: CertificateFacts): Role {
  if (link === leaf) return { what: 'The certificate', fix: 'Renew it.' }
  const kind = link.isSelfIssued ? 'root' : 'intermediate'
  return {
    what: `The ${kind} certificate ${nameOf(link.subject)}`,
    fix: 'Install the current chain of the certificate authority (fullchain.pem).',
  }
}

function nameWarnings(
  host: string,
  { chain: [leaf], hostnameMatches, isCommonNameOnly }: TlsFacts,
): string[] {
  if (isCommonNameOnly)
    return ['The certificate has the host only in its common name, which browsers ignore.']
  if (hostnameMatches) return []
  const { subject, subjectAltNames } = leaf
  const names = subjectAltNames.length > 0 ? subjectAltNames : [subject.CN ?? 'no name']
  const more = names.length > MAX_NAMES_SHOWN ? ` and ${names.length - MAX_NAMES_SHOWN} more` : ''
  const hint = whyNotMatched(host, names)
  return [
    `The certificate is not for ${host}. It is for ${names.slice(0, MAX_NAMES_SHOWN).join(', ')}${more}.${hint}`,
  ]
}

/** RFC 9525, 6.3 and 6.5. */
function whyNotMatched(host: string, names: readonly string[]): string {
  if (names.includes(`DNS:${host}`))
    return ' Clients accept an address only as a name of the kind “IP address”.'
  return names.some((name) => /^[^.]*\*[^.]+\.|^[^.]+\*\.|\..*\*/.test(name))
    ? ' In a name, * has to be the whole first label.'
    : ''
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
