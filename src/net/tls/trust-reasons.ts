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

const SELF_SIGNED = 'DEPTH_ZERO_SELF_SIGNED_CERT'
const UNKNOWN_ROOT = 'SELF_SIGNED_CERT_IN_CHAIN'

/** Keys and signatures that OpenSSL’s security level does not accept. */
export const WEAK_CODES = new Set(['EE_KEY_TOO_SMALL', 'CA_KEY_TOO_SMALL', 'CA_MD_TOO_WEAK'])

/** The other codes that a server can cause; the rest is shown in OpenSSL’s words. */
const REASONS: Record<string, (facts: TlsFacts) => string> = {
  [SELF_SIGNED]: () => 'The certificate is self-signed, so clients do not trust it.',
  [UNKNOWN_ROOT]: ({ chain }) =>
    `The chain ends at ${nameOf(chain.at(-1)?.subject)}, which is not a trusted root. Add private roots with NODE_EXTRA_CA_CERTS.`,
  INVALID_CA: wrongUse,
  INVALID_PURPOSE: wrongUse,
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
  EE_KEY_TOO_SMALL: () => 'The key of the certificate is too short. Use 2048 (RSA) or 256 (EC).',
  CA_KEY_TOO_SMALL: () => 'The key of an issuer is too short. Use another certificate authority.',
  CA_MD_TOO_WEAK: () =>
    'A certificate of the chain is signed with an insecure digest (SHA-1 or MD5). Reissue it.',
}

const SERVER_PURPOSES = new Set(['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'])

/** A certificate in a role that it is not for (RFC 5280, 4.2.1.9 and 4.2.1.12). */
function wrongUse({ chain }: TlsFacts): string {
  const [leaf, ...issuers] = chain
  const notCa = issuers.find(({ isCa }) => !isCa)
  if (notCa)
    return `${nameOf(notCa.subject)} signed the chain, but is not a certificate authority. Install a certificate of a certificate authority.`
  const client = chain.find(({ extendedKeyUsage }) =>
    extendedKeyUsage?.every((purpose) => !SERVER_PURPOSES.has(purpose)),
  )
  if (client === leaf)
    return 'The certificate is not for servers: its extended key usage lacks serverAuth. Request one for servers.'
  return client
    ? `The issuer ${nameOf(client.subject)} may not sign certificates for servers: its extended key usage lacks serverAuth.`
    : 'The key usage of a certificate in the chain does not permit this use. Reissue it.'
}

function notPermitted({ chain }: TlsFacts): string {
  return `An issuer of the chain may not sign for ${chain[0].subjectAltNames.slice(0, MAX_NAMES_SHOWN).join(', ') || 'this name'}: its name constraints exclude it.`
}

/** Why the chain is not trusted; empty when it is, or when a certificate is not valid now. */
export function trustReasons(facts: TlsFacts): string[] {
  const { isTrusted, trustError, trustErrorText, chain } = facts
  const last = chain.at(-1)
  if (isTrusted || !last) return []
  const code = trustError ?? ''
  if (MISSING_ISSUER.has(code)) return [missingIssuer(facts)]
  if (TIME_CODES.has(code) && !last.isSelfIssued) return [missingIssuer(facts)]
  // OpenSSL keeps the last of several errors.
  if (TIME_CODES.has(code) && !isRoot(last))
    return [REASONS[chain.length === 1 ? SELF_SIGNED : UNKNOWN_ROOT]?.(facts) ?? '']
  if (TIME_CODES.has(code) && chain.some((link) => !isValidNow(link))) return []
  return [REASONS[code]?.(facts) ?? `Clients do not trust the chain: ${trustErrorText}.`]
}

function isValidNow({ validFrom, validTo }: CertificateFacts): boolean {
  return validFrom.getTime() <= Date.now() && Date.now() <= validTo.getTime()
}

function missingIssuer({ chain }: TlsFacts): string {
  const last = chain.at(-1) ?? chain[0]
  const sender =
    chain.length === 1 ? 'only its own certificate' : `a chain that ends at ${nameOf(last.subject)}`
  return `The server sends ${sender}, and its issuer ${nameOf(last.issuer)} is not a known root. Install the full chain (fullchain.pem): browsers may fetch missing certificates, but mail servers and programs do not.`
}

export function nameOf(attributes: Record<string, string> = {}): string {
  return `“${attributes.CN ?? attributes.OU ?? attributes.O ?? 'unnamed'}”`
}
