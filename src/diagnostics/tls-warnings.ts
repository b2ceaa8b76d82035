import type { CertificateFacts } from '../net/certificate.ts'
import type { TlsFacts } from '../net/tls.ts'

const DAY = 86_400_000
/** Days before the end at which a certificate that renews itself should have done so. */
const SOON = 30
const VERY_SOON = 14
const MAX_NAMES = 5

/** Whole days until a moment, rounded down. */
export function daysUntil(moment: Date): number {
  return Math.floor((moment.getTime() - Date.now()) / DAY)
}

/** What is wrong with a server's TLS or will be soon, and what to do about it. */
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
  if (validTo.getTime() < Date.now()) return [`The certificate expired on ${day(validTo)}. Renew it.`]
  if (validFrom.getTime() > Date.now()) {
    return [`The certificate is valid only from ${day(validFrom)} on. Is the clock of its maker right?`]
  }
  if (days >= SOON) return []
  const left = days === 1 ? '1 day' : `${days} days`
  const advice = days < VERY_SOON ? 'Renew it now.' : 'If it renews itself, it should have by now.'
  return [`The certificate expires in ${left}, on ${day(validTo)}. ${advice}`]
}

function nameWarnings(host: string, { subject, subjectAltNames }: CertificateFacts, matches: boolean): string[] {
  if (matches && subjectAltNames.length > 0) return []
  if (matches) return ['The certificate names its host in the common name alone, which browsers ignore.']
  const names = subjectAltNames.length > 0 ? subjectAltNames : Object.values({ CN: subject.CN ?? 'no name at all' })
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  return [`The certificate is not for ${host}. It is for ${names.slice(0, MAX_NAMES).join(', ')}${more}.`]
}

function trustWarnings({ isTrusted, trustError, chain }: TlsFacts): string[] {
  const last = chain.at(-1)
  if (isTrusted || !last) return []
  if (!last.isSelfIssued) {
    const sender = chain.length === 1 ? 'its own certificate alone' : `a chain that ends at ${nameOf(last.subject)}`
    return [
      `The server sends ${sender}, and ${nameOf(last.issuer)}, who signed that, is not known here. Install the full chain (fullchain.pem): browsers may find what is missing, mail servers and programs do not.`,
    ]
  }
  if (chain.length === 1) return ['The certificate is self-signed: nobody but its maker vouches for it.']
  if (trustError !== 'SELF_SIGNED_CERT_IN_CHAIN') return []
  return [
    `Nobody here trusts ${nameOf(last.subject)}, where the chain ends. NODE_EXTRA_CA_CERTS can name private roots.`,
  ]
}

function nameOf(attributes: Record<string, string>): string {
  return `“${attributes.CN ?? attributes.OU ?? attributes.O ?? 'somebody without a name'}”`
}

const MIN_BITS: Record<string, number> = { rsa: 2048, dsa: 2048, ec: 224 }

function strengthWarnings(link: CertificateFacts): string[] {
  const { keyType, keyBits, signatureAlgorithm, isSelfIssued, subject } = link
  const warnings: string[] = []
  if (keyBits !== null && keyBits < (MIN_BITS[keyType ?? ''] ?? 0)) {
    warnings.push(`The key of ${nameOf(subject)} has ${keyBits} bits, too few: use 2048 (RSA) or 256 (EC).`)
  }
  // Nobody checks the signature of a root.
  if (!isSelfIssued && /sha-?1(?!\d)|md5/i.test(signatureAlgorithm ?? '')) {
    warnings.push(`${nameOf(subject)} is signed with ${signatureAlgorithm}, which is broken.`)
  }
  return warnings
}

function protocolWarnings({ protocol, isOutdated }: TlsFacts): string[] {
  if (['SSLv3', 'TLSv1', 'TLSv1.1'].includes(protocol)) {
    return [`The server speaks only ${protocol}, which current software refuses. Enable TLS 1.2 and 1.3.`]
  }
  return isOutdated ? ['The handshake works only with ciphers or key sizes that current software refuses.'] : []
}
