import type { CertificateFacts } from './certificate.ts'
import type { TlsFacts } from './probe-tls.ts'
import { isRoot } from './trusted-path.ts'

export const MAX_NAMES_SHOWN = 5

/** Codes of OpenSSL for an issuer that the server did not send. */
const MISSING_ISSUER = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
])

/** A certificate of the chain has expired or is not valid yet; its dates say which one. */
const TIME_CODES = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID'])

/** Keys and signatures that OpenSSL’s security level does not accept. */
const WEAK: Record<string, string> = {
  EE_KEY_TOO_SMALL: 'The key of the certificate is too short. Use 2048 (RSA) or 256 (EC).',
  CA_KEY_TOO_SMALL: 'The key of an issuer is too short. Use another certificate authority.',
  CA_MD_TOO_WEAK:
    'A certificate of the chain is signed with an insecure digest (SHA-1 or MD5). Reissue it.',
}
export const WEAK_REASONS = new Set(Object.values(WEAK))

/** Codes whose reason the chain does not show; the rest is shown in OpenSSL’s words. */
const REASONS: Record<string, (facts: TlsFacts) => string> = {
  PATH_LENGTH_EXCEEDED: () =>
    'The chain has more intermediate certificates than one of its issuers permits. Install the chain that the certificate authority gives.',
  CERT_CHAIN_TOO_LONG: () =>
    'The chain has too many certificates. Install the chain that the certificate authority gives.',
  CERT_SIGNATURE_FAILURE: () =>
    'A signature in the chain is not valid: an issuer has another key than the one that signed. Install the chain that belongs to the certificate.',
  PERMITTED_VIOLATION: notPermitted,
  EXCLUDED_VIOLATION: notPermitted,
  UNHANDLED_CRITICAL_EXTENSION: () =>
    'A certificate of the chain has a critical extension that clients do not know. Reissue it without.',
}

/**
 * Why the chain is not trusted; empty when it is, or when the only reason is that a certificate is
 * not valid now. OpenSSL’s code is the last of several errors, so the chain is examined as well.
 */
export function trustReasons(facts: TlsFacts): string[] {
  const { isTrusted, trustError, trustErrorText, chain } = facts
  if (isTrusted) return []
  const code = trustError ?? ''
  const reasons = [rootReason(facts), wrongUse(facts), REASONS[code]?.(facts), WEAK[code]]
  const found = [...new Set(reasons)].filter((reason) => reason !== undefined)
  if (found.length > 0 || (TIME_CODES.has(code) && !chain.every(isValidNow))) return found
  return [`Clients do not trust the chain: ${trustErrorText}.`]
}

function rootReason(facts: TlsFacts): string | undefined {
  const { chain, trustError } = facts
  const last = chain.at(-1) ?? chain[0]
  if (MISSING_ISSUER.has(trustError ?? '') || !last.isSelfIssued) return missingIssuer(facts)
  if (isRoot(last)) return undefined
  return chain.length === 1
    ? 'The certificate is self-signed, so clients do not trust it.'
    : `The chain ends at ${nameOf(last.subject)}, which is not a trusted root. Add private roots with NODE_EXTRA_CA_CERTS.`
}

function missingIssuer({ chain }: TlsFacts): string {
  const last = chain.at(-1) ?? chain[0]
  const sender =
    chain.length === 1 ? 'only its own certificate' : `a chain that ends at ${nameOf(last.subject)}`
  return `The server sends ${sender}, and its issuer ${nameOf(last.issuer)} is not a known root. Install the full chain (fullchain.pem): browsers may fetch missing certificates, but mail servers and programs do not.`
}

const SERVER_PURPOSES = new Set(['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'])

/** A certificate in a role that it is not for (RFC 5280, 4.2.1.9 and 4.2.1.12). */
function wrongUse({ chain }: TlsFacts): string | undefined {
  const [leaf, ...issuers] = chain
  const notCa = issuers.find(({ isCa }) => !isCa)
  if (notCa)
    return `${nameOf(notCa.subject)} signed the chain, but is not a certificate authority. Install a certificate of a certificate authority.`
  const client = chain.find(({ extendedKeyUsage }) =>
    extendedKeyUsage?.every((purpose) => !SERVER_PURPOSES.has(purpose)),
  )
  if (client === leaf)
    return 'The certificate is not for servers: its extended key usage lacks serverAuth. Request one for servers.'
  return (
    client &&
    `The issuer ${nameOf(client.subject)} may not sign certificates for servers: its extended key usage lacks serverAuth.`
  )
}

function notPermitted({ chain }: TlsFacts): string {
  return `An issuer of the chain may not sign for ${chain[0].subjectAltNames.slice(0, MAX_NAMES_SHOWN).join(', ') || 'this name'}: its name constraints exclude it.`
}

function isValidNow({ validFrom, validTo }: CertificateFacts): boolean {
  return validFrom.getTime() <= Date.now() && Date.now() <= validTo.getTime()
}

export function nameOf(attributes: Record<string, string> = {}): string {
  return `“${attributes.CN ?? attributes.OU ?? attributes.O ?? 'unnamed'}”`
}
