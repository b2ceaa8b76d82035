import type { X509Certificate } from 'node:crypto'
import { readExtensions, type Extensions } from './certificate-extensions.ts'
import { violatesConstraints } from './name-constraints.ts'

const SERVER_PURPOSES = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0']

/**
 * Why a chain does not lead to the trust anchor that a TLSA record names (RFC 7672, 3.1.2; RFC 5280,
 * 6.1); a clause. Null when it does.
 * @param path the server’s certificate, its issuers, and the anchor, if it has a certificate
 * @param names the names under which senders know the server
 */
export function whyUntrusted(
  path: readonly X509Certificate[],
  names: readonly string[],
): string | null {
  const [leaf, ...issuers] = path
  if (!leaf) return 'the server sent no certificate'
  // RFC 7672, 3.2.3: a wildcard is a whole label.
  if (!names.some((name) => leaf.checkHost(name, { partialWildcards: false }) !== undefined))
    return `the certificate is not for ${names[0]}`
  const now = new Date()
  const anchor = path.at(-1)
  // As in OpenSSL, an intermediate certificate that is the anchor may have expired.
  const dated = path.filter((link) => link === leaf || link !== anchor || isSelfIssued(link))
  if (dated.some(({ validFromDate, validToDate }) => now < validFromDate || now > validToDate))
    return 'a certificate of the chain is not valid now'
  if (path.some(({ keyUsage }) => keyUsage && !SERVER_PURPOSES.some((id) => keyUsage.includes(id))))
    return 'a certificate of the chain is not for servers'
  if (issuers.some(({ ca }) => !ca)) return 'an issuer of the chain is not a certificate authority'
  const isBroken = issuers.some((issuer, index) => !path[index]?.verify(issuer.publicKey))
  if (isBroken) return 'the signatures of the chain are not valid'
  return whyNotPermitted(path)
}

const isSelfIssued = ({ subject, issuer }: X509Certificate) => subject === issuer

/** What the issuers of a chain do not permit, the anchor among them, as in OpenSSL. */
function whyNotPermitted(path: readonly X509Certificate[]): string | null {
  const extensions = path.map(({ raw }) => readExtensions(raw))
  if (extensions.some(({ isCriticalUnknown }) => isCriticalUnknown))
    return 'a certificate of the chain has a critical extension that clients do not know'
  // RFC 5280, 6.1.4 (l): a certificate that an authority issued to itself does not count.
  const counted = path.map((link, index) => index > 0 && !isSelfIssued(link))
  const isTooLong = ({ pathLength }: Extensions, index: number) =>
    pathLength !== null && counted.slice(0, index).filter(Boolean).length > pathLength
  if (extensions.some(isTooLong))
    return 'the chain has more certificates than one of its issuers permits'
  // RFC 5280, 6.1.3 (b): the constraints of an issuer are for all below it.
  const isViolated = extensions.some(
    ({ constraints }, above) =>
      constraints !== null &&
      extensions
        .slice(0, above)
        .some(
          ({ names }, below) =>
            (below === 0 || counted[below]) && violatesConstraints(names, constraints),
        ),
  )
  return isViolated ? 'the name constraints of an issuer exclude the certificate' : null
}
